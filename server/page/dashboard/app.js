// The project's page: shows the status that the server sends. It reads only.
import {makeActivity, makeCurves, redraw} from './charts.js';
import {openFeed} from './feed.js';
import {
  ago, count, counted, credit, dateTime, duration, kNothing, speed, spoken,
} from './format.js';
import {showRun} from './run.js';
import {byId, fill, fillTable, setText, syncChildren} from './tables.js';

const kActivityMillis = 10000;

let latest = null;    // the newest status that the server sent
let curve = null;     // {run, points} of the run that is shown, once it came
let activity = null;  // what /v1/activity said last

const chosen = (name) =>
    document.querySelector(`[name=${name}]:checked`).value;
const showCurves = makeCurves();
const showActivity = makeActivity();

function showCurve(run) {
  const isDrawn = curve?.run === run.run && curve.points.length > 0;
  byId('no-curve').hidden = run.evaluations > 0;
  byId('curve-box').hidden = !isDrawn;
  // What the canvases show must be there before they are drawn.
  if (isDrawn && curve.drawn !== chosen('axis')) {
    curve.drawn = chosen('axis');
    showCurves(run, curve.points, curve.drawn);
  }
}

// The curve is large and changes seldom: it is asked for when there is a newer
// version than its last.
async function updateCurve(run) {
  const last = curve?.run === run.run ? curve.points.at(-1)?.version : -1;
  if (run.evaluations === 0 || last >= run.evaluated_version) return;
  const answer = await fetch(`/v1/runs/${encodeURIComponent(run.run)}/curve`);
  if (!answer.ok) return;
  curve = await answer.json();
  if (latest.run?.run === curve.run) showCurve(latest.run);
}

// Many hosts have the same name: "attic of Ann".
function hostOf({host, user}) {
  if (!host) return kNothing;
  return user ? `${host} of ${user}` : host;
}

const kUnitFormats = {
  age: (unit) => duration((latest.time - unit.created) / 1000),
  took: (unit) => duration((unit.closed - unit.created) / 1000),
  replicas: (unit) => unit.replicas
      .map((replica) => `${hostOf(replica)}: ${spoken(replica.state)}`)
      .join(', '),
};

function showUnits(units) {
  fill(byId('units'), {}, units);
  const named = (rows) => rows.map((unit) => ({...unit, id: unit.unit}));
  fillTable(byId('open'), named(units.oldest), kUnitFormats);
  fillTable(byId('closed'), named(units.closed), kUnitFormats);
  showMore('open', units.oldest.length, units.open, 'unit', 'the oldest');
}

const kRejectedFormats = {
  received: (result) => dateTime(result.received),
  host: (result) => hostOf({host: result.host_name, user: result.user}),
  reason: (result) => result.reason || spoken(result.outcome),
};

// Of the project.

const kHostFormats = {
  name: (host) => host.name,
  user: (host) => host.state === 'house' ? 'the project' : host.user,
  device: (host) => [host.device, host.platform].filter(Boolean).join(', '),
  speed: (host) => speed(host.speed_flops),
  trust: ({state, trust}) => {
    if (state === 'house') return 'the project’s';
    return state === 'new' ? `new, ${count(trust)} checked` : state;
  },
  credit: (host) => credit(host.credit),
  last_seen: (host) => host.active
      ? 'active' : ago(host.last_seen, latest.time),
};

const kUserFormats = {
  rank: (user, index) => count(index + 1),
  name: (user) => user.name,
  credit: (user) => credit(user.credit),
};

const kEventFormats = {
  time: (event) => dateTime(event.time),
  kind: ({kind, count: times}) =>
      times > 1 ? `${spoken(kind)} ×\u00a0${count(times)}` : spoken(kind),
  host: hostOf,
  text: (event) => event.text,
};

// What a table does not show of all that there is.
function showMore(name, shown, total, noun, which) {
  const node = byId(`${name}-more`);
  node.hidden = total <= shown;
  setText(node, `These are ${which} ${count(shown)} of ` +
      `${counted(total, noun)}.`);
}

function showProject({status, fingerprint, url}) {
  document.title = status.name ? `${status.name} – Quorate` : 'Quorate';
  setText(byId('project'), status.name || 'Unnamed project');
  setText(byId('fingerprint'), fingerprint);
  const address = `${url || location.origin}#${fingerprint}`;
  setText(byId('attach-command'), `quorate-client attach ${address}`);
  // The link means an encrypted one: see the client's desktop entry.
  const is_encrypted = address.startsWith('https://');
  byId('join-by-link').hidden = !is_encrypted;
  if (is_encrypted) {
    byId('join-link').href = address.replace('https://', 'quorate://');
  }
  fill(byId('summary'), {}, status);
}

// The run that the address names, behind its #.
function wantedRun() {
  const match = /^#run=(.*)$/.exec(location.hash);
  try {
    return match ? decodeURIComponent(match[1]) : '';
  } catch {
    return '';
  }
}

function showRunChoice({rows, total}, run) {
  // The one that is shown may be older than those that are listed.
  const listed = rows.some((row) => row.id === run?.id);
  const options = run && !listed ? [run, ...rows] : rows;
  byId('run-choice').hidden = total < 2;
  const make = () => document.createElement('option');
  syncChildren(byId('runs'), options, make, (option, row) => {
    option.value = row.run;
    setText(option, `${row.run} · ${row.state}`);
    option.selected = row.id === run.id;
  });
}

function render() {
  if (!latest) return;
  const {run, hosts, users} = latest;
  showProject(latest);
  byId('no-run').hidden = Boolean(run);
  for (const id of ['run-body', 'facts', 'units']) byId(id).hidden = !run;
  showRunChoice(latest.runs, run);
  if (run) {
    showRun(run, latest.status.hosts_active);
    showCurve(run);
    showUnits(run.units);
  }
  fillTable(byId('hosts'), hosts.rows, kHostFormats, (row, host) => {
    row.dataset.active = host.active;
  });
  showMore('hosts', hosts.rows.length, hosts.total, 'host', 'the first');
  fillTable(byId('users'), users.rows, kUserFormats);
  showMore('users', users.rows.length, users.total, 'volunteer', 'the first');
  const rejected = run?.rejected ?? [];
  fillTable(byId('rejected'), rejected, kRejectedFormats);
  showMore('rejected', rejected.length, run?.results_rejected ?? 0, 'result',
           'the last');
  fillTable(byId('events'), latest.events, kEventFormats);
}

// Few things are worth interrupting whoever listens to the page: a run that
// changes its state, and the connection.
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
  const isNews = node.dataset.state !== 'connecting' || state === 'offline';
  node.dataset.state = state;
  setText(node, state === 'live' ? 'live' : 'connection lost');
  const lost = byId('lost');
  lost.hidden = state === 'live';
  setText(lost, `Connection lost ${dateTime(Date.now())}. ` +
      (latest ? 'These figures are from before that. ' : '') +
      'The page continues by itself when the server answers.');
  if (isNews) {
    announce(state === 'live' ? 'The server is back.'
                              : 'The connection to the server is lost.');
  }
}

function receive(status) {
  if (latest) announceRuns(latest.runs.rows, status.runs.rows);
  latest = status;
  setConnection('live');
  render();
  // A curve that does not come is asked for again with the next status.
  if (status.run) updateCurve(status.run).catch(() => {});
}

async function updateActivity() {
  if (document.hidden) return;
  try {
    activity = await (await fetch('/v1/activity')).json();
    showActivity(activity, chosen('range'));
  } catch {
    // The feed says whether the server is there.
  }
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

const feed = openFeed(wantedRun(), {
  status: receive,
  time(millis) {
    if (!latest) return;
    latest.time = millis;
    setConnection('live');
    render();
  },
  lost: () => setConnection('offline'),
});

byId('runs').addEventListener('change', (event) => {
  location.hash = `run=${encodeURIComponent(event.target.value)}`;
});
addEventListener('hashchange', () => {
  // Other fragments are places in the page.
  if (location.hash.startsWith('#run=')) feed.show(wantedRun());
});
addEventListener('more', render);
byId('axis').addEventListener('change', render);
byId('range').addEventListener('change', () => {
  if (activity) showActivity(activity, chosen('range'));
});
for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', () => copy(button));
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
document.addEventListener('visibilitychange', updateActivity);
updateActivity();
setInterval(updateActivity, kActivityMillis);
