// The page of one simulation: its figures and charts. Chart is Chart.js; the
// data stand in the page, as `quorate simulate` wrote them.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const {scenario, summary, timeline, versions} = data;

function byId(id) {
  return document.getElementById(id);
}

function count(value) {
  return value.toLocaleString('en', {maximumFractionDigits: 0});
}

function scaled(value, unit) {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let power = 0;
  for (; value >= 999.5 && power + 1 < prefixes.length; ++power) value /= 1000;
  const digits = value.toLocaleString('en', {maximumSignificantDigits: 3});
  return `${digits} ${prefixes[power]}${unit}`;
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

const kTimeUnits = [
  ['days', 86400], ['hours', 3600], ['minutes', 60], ['seconds', 1]];
const [timeUnit, timeLength] =
    kTimeUnits.find(([, length]) => summary.seconds >= 2 * length) ??
    kTimeUnits.at(-1);

function inTime(seconds) {
  return `${(seconds / timeLength).toFixed(2)} ${timeUnit}`;
}

function color(name) {
  return () => getComputedStyle(document.body).getPropertyValue(name);
}

function showFacts() {
  const facts = [
    ['Virtual time', inTime(summary.seconds)],
    ['Run', summary.state],
    ['Rule', summary.rule],
    ['Results in the model', count(summary.results_assimilated)],
    ['Rejected', count(summary.results_rejected)],
    ['Requests to the server', count(summary.requests)],
    ['Sent to volunteers', scaled(summary.bytes_down, 'B')],
    ['Received from them', scaled(summary.bytes_up, 'B')],
    ['Workers were busy', percent(summary.utilisation)],
  ];
  if ('accuracy' in summary) {
    facts.push(['Accuracy at the end', percent(summary.accuracy)]);
    facts.push(['Best accuracy', percent(summary.best_accuracy)]);
  }
  if (summary.target) {
    facts.push(['Target reached after', inTime(summary.target.seconds)]);
  }
  if (summary.cost > 0) facts.push(['Cost', summary.cost.toFixed(2)]);
  for (const [name, value] of facts) {
    const pair = document.createElement('div');
    pair.append(Object.assign(document.createElement('dt'), {textContent: name}),
                Object.assign(document.createElement('dd'), {textContent: value}));
    byId('facts').append(pair);
  }
}

// points: {x, y}. format: of a value on the y axis.
function addChart(title, points, xTitle, format) {
  if (points.length === 0) return;
  const section = document.createElement('section');
  section.className = 'card';
  const plot = document.createElement('div');
  plot.className = 'plot';
  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute(
      'aria-label', `${title}: ${format(points.at(-1).y)} at the end`);
  plot.append(canvas);
  section.append(
      Object.assign(document.createElement('h2'), {textContent: title}), plot);
  byId('charts').append(section);
  const ticks = {color: color('--quiet'), maxRotation: 0, autoSkipPadding: 16};
  const grid = {color: color('--line'), borderColor: color('--line')};
  return new Chart(canvas, {
    type: 'line',
    data: {datasets: [{
      data: points, borderWidth: 2, pointRadius: 0, pointHoverRadius: 4,
      borderColor: color('--accent'), backgroundColor: color('--accent'),
    }]},
    options: {
      animation: false, parsing: false, maintainAspectRatio: false,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      scales: {
        x: {type: 'linear', grid, ticks: {...ticks, includeBounds: false},
            title: {display: true, text: xTitle, color: color('--quiet')}},
        y: {type: 'linear', grid,
            ticks: {...ticks, callback: (value) => format(value)}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: (item) => format(item.parsed.y)}},
      },
    },
  });
}

// How fast a sum grows, by the hour.
function rates(name) {
  return timeline.slice(1).map((row, i) => {
    const hours = (row.time_s - timeline[i].time_s) / 3600;
    return {x: row.time_s / timeLength,
            y: hours > 0 ? (row[name] - timeline[i][name]) / hours : 0};
  });
}

function showCharts() {
  const byTime = (rows, name) =>
      rows.map((row) => ({x: row.time_s / timeLength, y: row[name]}));
  const byName = (x, y, scale) =>
      versions.map((row) => ({x: row[x] / scale, y: row[y]}));
  const sent = versions.map(
      (row) => ({x: (row.bytes_up + row.bytes_down) / 1e6, y: row.accuracy}));
  addChart('Accuracy', byTime(versions, 'accuracy'), timeUnit, percent);
  addChart('Accuracy by samples', byName('samples', 'accuracy', 1e3),
           'thousand samples', percent);
  addChart('Accuracy by transfers', sent, 'MB sent and received', percent);
  addChart('Loss', byTime(versions, 'loss'), timeUnit, (y) => y.toFixed(3));
  addChart('Hosts present', byTime(timeline, 'hosts'), timeUnit, count);
  addChart('Results an hour', rates('results'), timeUnit, count);
  addChart('Requests an hour', rates('requests'), timeUnit, count);
  addChart('Machines lost', byTime(timeline, 'machines_lost'), timeUnit, count);
  if (summary.cost > 0) {
    addChart('Cost', byTime(timeline, 'cost'), timeUnit, (y) => y.toFixed(2));
  }
}

function showTable() {
  const head = ['time_s', 'version', 'results', 'samples', 'loss', 'accuracy'];
  const lines = versions.map((row) => head.map((name) => row[name]).join('\t'));
  byId('versions').textContent = [head.join('\t'), ...lines].join('\n');
}

document.title = `${summary.name}: simulation`;
byId('title').textContent = summary.name;
byId('about').textContent =
    `A simulation on a virtual clock, seed ${summary.seed}.`;
byId('scenario').textContent = JSON.stringify(scenario, null, 2);
showFacts();
showCharts();
showTable();
