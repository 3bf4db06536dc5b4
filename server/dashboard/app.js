// The project's page: shows the status that the server streams. It reads only;
// whatever it shows goes in as text, never as HTML. Nodes are updated in place,
// so that focus, selection and scroll positions survive.

const kPollMillis = 3000;
const kReopenMillis = 30000;

let latest = null;  // the newest status that the server sent

const byId = (id) => document.getElementById(id);
// 'version' or 'time'
const chosenAxis = () => document.querySelector('[name=axis]:checked').value;

const kNothing = '–';
const kDateTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric', month: 'short',
  hour: '2-digit', minute: '2-digit', second: '2-digit',
});

function count(value) {
  return Number.isFinite(value) ? value.toLocaleString('en') : kNothing;
}

function fixed(value, digits) {
  if (!Number.isFinite(value)) return kNothing;
  return value.toLocaleString(
      'en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

function percent(share, digits) {
  return Number.isFinite(share) ? `${fixed(share * 100, digits)} %` : kNothing;
}

// Both in milliseconds since 1970, by the server's clock: the reader's may be
// wrong.
function ago(time, now) {
  if (!time) return kNothing;
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

function dateTime(time) {
  return time ? kDateTime.format(time) : kNothing;
}

function atVersion(version) {
  return Number.isFinite(version) ? `at version ${count(version)}` : '';
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// The words for one field, or for what a format makes of several. A field
// without a format is a count.
function words(name, formats, data, index) {
  return formats[name] ? formats[name](data, index) : count(data[name]);
}

// Fills the nodes that are marked data-value="NAME".
function fill(root, formats, data) {
  for (const node of root.querySelectorAll('[data-value]')) {
    setText(node, words(node.dataset.value, formats, data));
  }
}

// Makes the children of parent stand for items, one each, in their order.
function syncChildren(parent, items, make, update) {
  const old = new Map(
      [...parent.children].map((child) => [child.dataset.key, child]));
  const children = items.map((item) => {
    const child = old.get(String(item.id)) ?? make(item);
    old.delete(String(item.id));
    child.dataset.key = item.id;
    return child;
  });
  for (const child of old.values()) child.remove();
  children.forEach((child, index) => {
    const place = parent.children[index] ?? null;
    if (child !== place) parent.insertBefore(child, place);
    update(child, items[index], index);
  });
}

function makeRow(heads) {
  const row = document.createElement('tr');
  for (const head of heads) {
    const isKey = head.classList.contains('key');
    const cell = document.createElement(isKey ? 'th' : 'td');
    if (isKey) cell.scope = 'row';
    cell.className = head.className;
    row.append(cell);
  }
  return row;
}

// One row of the table for each item; the heads name the fields.
function fillTable(table, items, formats) {
  const heads = [...table.tHead.rows[0].cells];
  const update = (row, item, index) => heads.forEach((head, column) => {
    setText(row.cells[column], words(head.dataset.cell, formats, item, index));
  });
  syncChildren(table.tBodies[0], items, () => makeRow(heads), update);
  table.tHead.hidden = items.length === 0;
  byId(`no-${table.id}`).hidden = items.length > 0;
}

const kTimeUnits = [
  ['days', 86400e3], ['hours', 3600e3], ['minutes', 60e3], ['seconds', 1e3]];

// How to place an evaluation on the x axis.
function axisOf(run) {
  if (chosenAxis() === 'version') {
    return {
      title: 'version',
      position: (point) => point.version,
      label: (x) => `version ${count(x)}`,
    };
  }
  const span = run.curve.at(-1).time - run.created;
  const [unit, millis] =
      kTimeUnits.find(([, length]) => span >= 2 * length) ?? kTimeUnits.at(-1);
  return {
    title: `${unit} since the start`,
    position: (point) => (point.time - run.created) / millis,
    label: (x) => `after ${fixed(x, 2)} ${unit}`,
  };
}

// A colour of the style, asked for at every update: the scheme may change.
function color(name) {
  return () => getComputedStyle(document.body).getPropertyValue(name);
}

function makeChart(field, formatTick) {
  const grid = {color: color('--line'), borderColor: color('--line')};
  const ticks = {color: color('--quiet'), maxRotation: 0, autoSkipPadding: 16};
  const title = {display: true, text: '', color: color('--quiet')};
  const own = color(`--${field}`);
  const line = {borderColor: own, backgroundColor: own, borderWidth: 2};
  return new Chart(byId(field), {
    type: 'line',
    data: {datasets: [{...line, data: []}]},
    options: {
      animation: false,
      parsing: false,
      maintainAspectRatio: false,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      scales: {
        x: {type: 'linear', grid, ticks, title},
        y: {type: 'linear', grid, ticks: {...ticks, callback: formatTick}},
      },
      plugins: {
        legend: {display: false},
        decimation: {enabled: true, algorithm: 'lttb'},
        tooltip: {displayColors: false},
      },
    },
  });
}

// The course of one field of the evaluations, on the canvas of that name:
// a function that shows a run's. It draws only what is new, because a chart
// costs more than the rest of the page.
function makeCurve(field, formatTick, format) {
  const chart = makeChart(field, formatTick);
  let drawn = '';
  return (run) => {
    const points = run.curve.filter((point) => Number.isFinite(point[field]));
    const last = points.at(-1);
    const wanted = [run.id, chosenAxis(), points.length, last?.version].join();
    if (wanted === drawn) return;
    drawn = wanted;
    draw(chart, field, format, points, axisOf(run));
    chart.canvas.setAttribute(
        'aria-label',
        `${field} of run ${run.run} over ${chosenAxis()}, ` +
            `${count(points.length)} evaluations; the last: ` +
            `${format(last?.[field])} ${atVersion(last?.version)}`);
  };
}

function draw(chart, field, format, points, axis) {
  const [dataset] = chart.data.datasets;
  dataset.data =
      points.map((point) => ({x: axis.position(point), y: point[field]}));
  dataset.pointRadius = points.length === 1 ? 3 : 0;
  chart.options.scales.x.title.text = axis.title;
  chart.options.plugins.tooltip.callbacks = {
    title: ([item]) => axis.label(item.parsed.x),
    label: (item) => `${field} ${format(item.parsed.y)}`,
  };
  chart.update();
}

const showCurves = [
  makeCurve('accuracy', (y) => percent(y, 0), (y) => percent(y, 2)),
  makeCurve('loss', (y) => Number(y.toPrecision(3)), (y) => fixed(y, 4)),
];

const kRunFormats = {
  accuracy: (run) => percent(run.accuracy, 2),
  accuracy_at: (run) => atVersion(run.evaluated_version),
  best_accuracy: (run) => percent(run.best_accuracy, 2),
  best_at: (run) => atVersion(run.best_version),
  loss: (run) => fixed(run.loss, 4),
  loss_at: (run) => atVersion(run.evaluated_version),
  epoch: (run) => count(Math.min(run.epoch + 1, run.epochs)),
  of_epochs: (run) => `of ${count(run.epochs)}`,
  of_units: (run) => `of ${count(run.units_made)} made`,
};

const kHostFormats = {
  rank: (host, index) => count(index + 1),
  name: (host) => host.name,
  state: (host) => host.active ? 'active' : 'away',
  user: (host) => host.state === 'house' ? 'the project' : host.user,
  device: (host) => [host.device, host.platform].filter(Boolean).join(', '),
  credit: (host) => fixed(host.credit, 2),
  last_seen: (host) => ago(host.last_seen, latest.time),
};

const kRejectedFormats = {
  received: (result) => dateTime(result.received),
  host: (result) => result.host_name ?? kNothing,
  reason: (result) => result.reason || result.outcome,
};

const kEventFormats = {
  time: (event) => dateTime(event.time),
  kind: (event) => event.kind.replaceAll('_', ' '),
  host: (event) => event.host ?? kNothing,
  text: (event) => event.text,
};

// What the address says, behind its #, to show this run.
function fragmentOf(run) {
  return `#run=${encodeURIComponent(run.run)}`;
}

// The run that the address names; else the newest that goes on, or the newest.
function chosenRun(runs) {
  const newest = [...runs].sort((a, b) => b.created - a.created);
  return runs.find((run) => fragmentOf(run) === location.hash) ??
      newest.find((run) => run.state === 'running') ?? newest[0];
}

function makeRunChoice(run) {
  const label = byId('run-label').content.firstElementChild.cloneNode(true);
  label.querySelector('input').value = fragmentOf(run);
  return label;
}

function showRunChoice(runs, chosen) {
  byId('run-choice').hidden = runs.length < 2;
  syncChildren(byId('run-labels'), runs, makeRunChoice, (label, run) => {
    label.querySelector('input').checked = run === chosen;
    setText(label.querySelector('span'), `${run.run} · ${run.state}`);
  });
}

function showRun(run) {
  const state = byId('run-state');
  setText(state, run.state);
  state.dataset.state = run.state;
  setText(byId('run-name'), run.run);
  setText(byId('run-settings'),
          `${run.model} on ${run.dataset}, ${run.rule}, quorum ${run.quorum}`);
  setText(byId('run-reason'), run.reason);
  byId('run-reason').hidden = !run.reason;
  byId('run-progress').value = run.progress;
  setText(byId('run-percent'), percent(run.progress, 1));
  fill(byId('run-body'), kRunFormats, run);
  const isDrawn = run.curve.length > 0;
  byId('no-curve').hidden = isDrawn;
  byId('curves').hidden = byId('axis').hidden = !isDrawn;
  if (isDrawn) showCurves.forEach((show) => show(run));
}

function showHosts(hosts) {
  const ranked = [...hosts].sort((a, b) => b.credit - a.credit || a.id - b.id);
  fillTable(byId('hosts'), ranked, kHostFormats);
  const {rows} = byId('hosts').tBodies[0];
  ranked.forEach((host, index) => rows[index].dataset.active = host.active);
}

function showProject(status) {
  const {name} = status.status;
  document.title = `${name} – Quorate`;
  setText(byId('project'), name || 'Unnamed project');
  setText(byId('fingerprint'), status.fingerprint);
  const address = `${status.url || location.origin}#${status.fingerprint}`;
  setText(byId('attach-command'), `quorate-client attach ${address}`);
  fill(byId('summary'), {}, status.status);
}

function render() {
  if (!latest) return;
  const run = chosenRun(latest.runs);
  showProject(latest);
  byId('no-run').hidden = Boolean(run);
  byId('run-body').hidden = !run;
  showRunChoice(latest.runs, run);
  if (run) showRun(run);
  showHosts(latest.hosts);
  fillTable(byId('rejected'), run?.rejected ?? [], kRejectedFormats);
  fillTable(byId('events'), latest.events, kEventFormats);
}

function announce(text) {
  setText(byId('announcement'), text);
}

function announceRuns(before, now) {
  const states = new Map(before.map((run) => [run.id, run.state]));
  for (const run of now) {
    if (states.get(run.id) === run.state) continue;
    announce(`Run ${run.run} is ${run.state}. ${run.reason}`);
  }
}

function setConnection(state) {
  const node = byId('connection');
  if (node.dataset.state === state) return;
  node.dataset.state = state;
  const since = state === 'live' ? '' : ` since ${dateTime(Date.now())}`;
  setText(node, state + since);
  announce(`The server is ${state === 'live' ? 'there' : 'not answering'}.`);
}

const feed = {stream: null, heard: 0};

function receive(status) {
  if (latest) announceRuns(latest.runs, status.runs);
  latest = status;
  feed.heard = performance.now();
  setConnection('live');
  render();
}

// The browser reopens a broken stream by itself, but not a refused one (too
// many were open).
function openStream() {
  if (feed.stream && feed.stream.readyState !== EventSource.CLOSED) return;
  feed.stream = new EventSource('/v1/events');
  feed.stream.addEventListener(
      'status', (event) => receive(JSON.parse(event.data)));
}

// Asks for what the stream did not bring.
async function poll() {
  if (feed.heard && performance.now() - feed.heard < kPollMillis) return;
  let status;
  try {
    const signal = AbortSignal.timeout(kPollMillis);
    const answer = await fetch('/v1/status', {signal});
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    status = await answer.json();
  } catch {
    setConnection('offline');
    return;
  }
  receive(status);
}

async function copy(button) {
  const source = byId(button.dataset.copy);
  getSelection().selectAllChildren(source);
  let done = 'Copied';
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // Only pages from https or from this machine may write the clipboard.
    done = 'Selected';
  }
  setText(button, done);
  announce(`${done}.`);
  setTimeout(() => setText(button, 'Copy'), 2000);
}

byId('run-choice').addEventListener('change', (event) => {
  location.hash = event.target.value;
});
addEventListener('hashchange', render);
byId('axis').addEventListener('change', render);
for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', () => copy(button));
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  Object.values(Chart.instances).forEach((chart) => chart.update());
});
openStream();
poll();
setInterval(poll, kPollMillis);
setInterval(openStream, kReopenMillis);
