// The charts, and each one's figures as a table for those who do not see it.
// Chart is Chart.js, a script of its own.
import {
  atVersion, bytes, count, counted, dateTime, decimals, fixed, percent,
} from './format.js';
import {byId, fillTable, setText} from './tables.js';

const kTimeUnits = [
  ['days', 86400e3], ['hours', 3600e3], ['minutes', 60e3], ['seconds', 1e3]];
const kTableRows = 60;

// A colour of the style, asked for at every update: the scheme may change.
function color(name) {
  return () => getComputedStyle(document.body).getPropertyValue(name);
}

function makeChart(id, type, datasets, y, options) {
  const grid = {color: color('--line'), borderColor: color('--line')};
  const ticks = {color: color('--quiet'), maxRotation: 0, autoSkipPadding: 16};
  const labels = {
    color: color('--text'), usePointStyle: true, boxWidth: 8, boxHeight: 8};
  return new Chart(byId(id), {
    type,
    data: {
      datasets: datasets.map(([label, name]) => ({
        label, data: [], borderWidth: type === 'line' ? 2 : 0,
        borderColor: color(name), backgroundColor: color(name),
        pointRadius: 0, pointHoverRadius: 4, pointStyle: 'circle',
        barPercentage: 1, categoryPercentage: 0.9, maxBarThickness: 12,
      })),
    },
    options: {
      animation: false,
      parsing: false,
      normalized: true,
      maintainAspectRatio: false,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      scales: {
        // Ticks at round numbers only: the end of the last bar is none.
        // Before there is a point the axes would count from 0 to 1.
        x: {type: 'linear', display: false, ...options.x, grid: {...grid, ...options.x.grid},
            ticks: {...ticks, includeBounds: false, ...options.x.ticks}},
        y: {type: 'linear', display: false, grid, ticks: {...ticks, callback: y},
            ...options.y},
      },
      plugins: {
        legend: {display: datasets.length > 1, align: 'end', labels},
        tooltip: {displayColors: datasets.length > 1, usePointStyle: true},
      },
    },
  });
}

function showAxes(chart) {
  chart.options.scales.x.display = true;
  chart.options.scales.y.display = true;
}

// Fills the table beside a chart while it is open: `make` gives its rows.
function showAsTable(id, make, formats) {
  const details = byId(`${id}-details`);
  const show = () => {
    if (details.open) fillTable(byId(`${id}-table`), make(), formats);
  };
  if (!details.dataset.bound) {
    details.dataset.bound = 'true';
    details.addEventListener('toggle', () => details.show());
    details.addEventListener('more', () => details.show());
  }
  details.show = show;
  show();
}

// At most about kTableRows of them, the last always among them, newest first.
function forTable(rows) {
  const stride = Math.ceil(rows.length / kTableRows);
  return [...rows].reverse().filter((row, index) => index % stride === 0);
}

function setSummary(chart, text) {
  chart.canvas.setAttribute('aria-label', text);
}

// How to place an evaluation on the x axis. axis: 'version' or 'time'.
function axisOf(axis, run, points) {
  if (axis === 'version') {
    return {
      title: 'version',
      position: (point) => point.version,
      label: (x) => `version ${count(x)}`,
    };
  }
  const span = points.at(-1).time - run.created;
  const [unit, millis] =
      kTimeUnits.find(([, length]) => span >= 2 * length) ?? kTimeUnits.at(-1);
  return {
    title: `${unit} since the start`,
    position: (point) => (point.time - run.created) / millis,
    label: (x) => `after ${fixed(x, 2)} ${unit}`,
  };
}

const kPointFormats = {
  version: (point) => count(point.version),
  time: (point) => dateTime(point.time),
  accuracy: (point) => percent(point.accuracy, 2),
  loss: (point) => fixed(point.loss, 4),
};

// How far the labels of an axis are apart; 0 if there is one alone.
function stepOf(ticks) {
  return ticks.length > 1 ? Math.abs(ticks[1].value - ticks[0].value) : 0;
}

// Labels of an axis with as many decimals as tell them apart: a curve that has
// become flat would repeat them. A label that stands alone has two.
function accuracyTick(y, index, ticks) {
  const step = stepOf(ticks);
  return percent(y, step > 0 ? decimals(step * 100) : 2);
}

function lossTick(y, index, ticks) {
  const step = stepOf(ticks);
  return fixed(y, step > 0 ? decimals(step) : 2);
}

// The course of one field of the evaluations, on the canvas of that name: a
// function that shows a run's.
function makeCurve(field, formatTick, format) {
  const chart = makeChart(
      field, 'line', [[field, `--${field}`]], formatTick, {x: {min: 0}});
  return (run, all, axisName) => {
    const points = all.filter((point) => Number.isFinite(point[field]));
    if (points.length === 0) return;
    const axis = axisOf(axisName, run, points);
    const [dataset] = chart.data.datasets;
    dataset.data =
        points.map((point) => ({x: axis.position(point), y: point[field]}));
    dataset.pointRadius = points.length === 1 ? 3 : 0;
    showAxes(chart);
    chart.options.scales.x.max = dataset.data.at(-1).x || 1;
    chart.options.scales.x.title = {
      display: true, text: axis.title, color: color('--quiet')};
    chart.options.plugins.tooltip.callbacks = {
      title: ([item]) => axis.label(item.parsed.x),
      label: (item) => `${field} ${format(item.parsed.y)}`,
    };
    chart.update();
    const {version} = points.at(-1);
    setSummary(chart, `${field} of run ${run.run} over ${axisName}, ` +
        `${counted(points.length, 'point')}; the last: ` +
        `${format(points.at(-1)[field])} ${atVersion(version)}`);
  };
}

// A function that shows the curves of a run: (run, points, 'version'|'time').
export function makeCurves() {
  const curves = [
    makeCurve('accuracy', accuracyTick, (y) => percent(y, 2)),
    makeCurve('loss', lossTick, (y) => fixed(y, 4)),
  ];
  return (run, points, axis) => {
    curves.forEach((show) => show(run, points, axis));
    const rows = () =>
        forTable(points.map((point) => ({...point, id: point.version})));
    showAsTable('curves', rows, kPointFormats);
  };
}

const kRanges = {hour: {minutes: 60, bin: 1}, day: {minutes: 1440, bin: 10}};
const kFields = ['received', 'valid', 'rejected', 'bytes_in', 'bytes_out'];

// Means per minute of the newest bins of so many minutes, oldest first; the
// newest may be shorter. Each with the time of its begin.
function bins(activity, range) {
  const {minutes, bin} = kRanges[range];
  const length = activity.received.length;
  const rows = [];
  const first = Math.max(0, length - minutes);
  for (let from = first; from < length; from += bin) {
    const to = Math.min(from + bin, length);
    const row = {id: activity.first + from * 60e3, minute: from - (length - 1)};
    for (const field of kFields) {
      const sum = activity[field].slice(from, to).reduce((a, b) => a + b, 0);
      row[field] = sum / (to - from);
    }
    rows.push(row);
  }
  return rows;
}

const kClock =
    new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit'});

function minuteTick(minute) {
  if (minute > 0 || !Number.isInteger(minute)) return '';
  if (minute === 0) return 'now';
  return minute % 60 === 0 ? `−${-minute / 60} h` : `−${-minute} min`;
}

const whole = (value) => count(Math.round(value));

const kMinuteFormats = {
  time: (row) => kClock.format(row.id),
  received: (row) => whole(row.received),
  valid: (row) => whole(row.valid),
  rejected: (row) => whole(row.rejected),
  bytes_in: (row) => bytes(row.bytes_in),
  bytes_out: (row) => bytes(row.bytes_out),
};

function draw(chart, rows, fields, range, format) {
  fields.forEach((field, index) => {
    chart.data.datasets[index].data =
        rows.map((row) => ({x: row.minute, y: row[field]}));
    chart.data.datasets[index].pointRadius = rows.length === 1 ? 3 : 0;
  });
  showAxes(chart);
  const {minutes, bin} = kRanges[range];
  const {x} = chart.options.scales;
  // A young server's first minutes should not look like a day's.
  const quarters = Math.min(4, Math.ceil(-rows[0].minute * 4 / minutes) || 1);
  x.min = -quarters * minutes / 4;
  x.max = chart.config.type === 'bar' ? bin / 2 : 0;
  x.ticks.stepSize = Math.min(3, quarters) * minutes / 12;
  chart.options.plugins.tooltip.callbacks = {
    title: ([item]) => kClock.format(rows[item.dataIndex].id),
    label: (item) => `${item.dataset.label} ${format(item.parsed.y)} / min`,
  };
  chart.update();
}

// A function that shows what the server did: (activity, 'hour'|'day').
export function makeActivity() {
  const x = {
    stacked: true, offset: false, grid: {offset: false},
    ticks: {autoSkip: false, callback: minuteTick},
  };
  const results = makeChart(
      'results', 'bar', [['valid', '--good'], ['rejected', '--bad']], count,
      {x, y: {stacked: true, beginAtZero: true, suggestedMax: 5}});
  const traffic = makeChart(
      'traffic', 'line', [['in', '--accuracy'], ['out', '--loss']], bytes,
      {x: {...x, stacked: false}, y: {beginAtZero: true, suggestedMax: 1e4}});
  return (activity, range) => {
    const rows = bins(activity, range);
    draw(results, rows, ['valid', 'rejected'], range, whole);
    // The minute under way would end every line with a fall.
    const ended = rows.length > 1 ? rows.slice(0, -1) : rows;
    draw(traffic, ended, ['bytes_in', 'bytes_out'], range, bytes);
    const last = rows.at(-2) ?? rows.at(-1);
    setSummary(results, `results per minute over the last ${range}; lately ` +
        `${whole(last.valid)} valid, ${whole(last.rejected)} rejected`);
    setSummary(traffic, `bytes per minute over the last ${range}; lately ` +
        `${bytes(last.bytes_in)} in, ${bytes(last.bytes_out)} out`);
    setText(byId('activity-since'), dateTime(activity.first));
    showAsTable('activity', () => forTable(rows), kMinuteFormats);
  };
}

// The scheme has changed.
export function redraw() {
  Object.values(Chart.instances).forEach((chart) => chart.update());
}
