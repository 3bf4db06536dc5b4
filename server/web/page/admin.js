// The page for administration: log in, look, and give the orders that the admin
// commands give. It asks when its reader does, never by itself, so that a
// session that nobody uses ends.
import {button, filtersOf, make, showRows} from './lists.js';
import {ask, look, openOrder, say, setToken} from './orders.js';
import {previewOf, showUnit} from './unit.js';

const byId = (id) => document.getElementById(id);
const rowsOf = (view) => byId(view).querySelector('[data-rows]');
const kMostRows = 100;

let isGuest = true;
let view = 'runs';

const kResultStates = [
  '', 'waiting', 'valid', 'invalid', 'inconclusive', 'too_late', 'unsent',
  'in_progress', 'over', 'success', 'client_error', 'no_reply', 'didnt_need',
  'validate_error'];
const kWorkunitStates = [
  '', 'open', 'validated', 'assimilated', 'credited', 'cancelled', 'diverged',
  'failed', 'spot', 'recheck', 'sound', 'unsound', 'revoked'];

function tell(text, isBad = false) {
  const said = byId('said');
  said.textContent = text;
  said.hidden = !text;
  said.classList.toggle('bad', isBad);
}

// Whoever is not logged in any more sees the login.
function fail(error) {
  if (error.status === 401) showLogin();
  tell(error.message, true);
}

async function attempt(action) {
  try {
    await action();
  } catch (error) {
    fail(error);
  }
}

function showLogin() {
  byId('login').hidden = false;
  for (const id of ['inside', 'logout', 'who']) byId(id).hidden = true;
  setToken('');
}

function enter(session) {
  setToken(session.token);
  isGuest = session.guest;
  byId('project').textContent = session.project;
  byId('who').textContent =
      `${session.name}${isGuest ? ', who may look' : ''}`;
  byId('login').hidden = true;
  for (const id of ['inside', 'logout', 'who']) byId(id).hidden = false;
  tell('');
  return show(view);
}

function afterOrder(answer) {
  const next = answer.next ?? '';
  attempt(() => show(view)).then(() => tell(next ? `Done: ${next}.` : 'Done.'));
}

const order = (label, options) =>
    button(label, () => openOrder({done: afterOrder, ...options}));

function resultActions(row) {
  const given = {result: row.id};
  const seen = button('Unit', () => attempt(() => openUnit(given)));
  if (isGuest) return [seen];
  const about = (verb, more = {}) => order(verb, {
    title: `${verb} result ${row.id} of host ${row.host_name}`, given,
    command: `result-${verb.toLowerCase()}`, ...more,
    get preview() { return previewOf(given); }});
  if (row.outcome !== 'success') return [seen];
  if (row.validate_state === 'valid') return [seen, about('Revoke')];
  if (row.validate_state !== 'init' && row.validate_state !== 'inconclusive') {
    return [seen];
  }
  const unverified = {name: 'unverified', type: 'checkbox', label:
    'Without recomputation: it stays marked as not verified'};
  return [seen, about('Accept', {fields: [unverified]}), about('Reject')];
}

function workunitActions(row) {
  const given = {workunit: row.id};
  const seen = button('Unit', () => attempt(() => openUnit(given)));
  const isOpen = row.state === 'open' || row.state === 'validated';
  if (isGuest || !isOpen) return [seen];
  const about = (verb, more = {}) => order(verb, {
    title: `${verb} workunit ${row.id}`, given,
    command: `workunit-${verb.toLowerCase()}`, ...more,
    get preview() { return previewOf(given); }});
  const all = [seen, about('Cancel')];
  if (row.state !== 'open') return all;
  const results = {
    name: 'results', label: 'How many more', type: 'number', value: 1};
  return [...all, about('Reissue'), about('Replicate', {fields: [results]})];
}

function runActions(row) {
  if (isGuest || row.state === 'finished' || row.state === 'stopped') return [];
  const given = {run: row.run};
  const moves = row.state === 'paused' ? ['Resume', 'resume']
                                       : ['Pause', 'pause'];
  const share = {name: 'share', label: 'Share of hosts’ time, beside the ' +
    'other runs’', type: 'number', value: row.share};
  return [
    order(moves[0], {title: `${moves[0]} run ${row.run}`, given,
                     command: `train-${moves[1]}`}),
    order('Share', {title: `Change the share of run ${row.run}`, given,
                    command: 'train-change', fields: [share]})];
}

const openUnit = (wanted) =>
    showUnit(byId('unit'), byId('unit-title'), byId('unit-body'), wanted);

async function showRuns() {
  const runs = await ask('train-list');
  showRows(rowsOf('runs'), 'Runs', [
    ['Run', 'run'], ['State', 'state'], ['Why', 'said'],
    ['Version', 'version'], ['Done', 'done'], ['Accuracy', 'accuracy'],
    ['Share', 'share'], ['Of hosts', 'hosts_part'],
    ['Not verified', 'unverified_results']],
           runs.map((run) => ({...run, said: run.reason || run.waits})),
           runActions);
}

async function showList(name, columns, actions) {
  const section = byId(name);
  const given = {
    ...filtersOf(section.querySelector('form')), limit: kMostRows};
  const {rows, total} = await ask(name, given);
  section.querySelector('[data-total]').textContent =
      `${rows.length} of ${total}, newest first`;
  showRows(rowsOf(name), name, columns, rows, actions);
}

const kResultColumns = [
  ['Id', 'id'], ['Workunit', 'workunit'], ['Run', 'run'],
  ['Host', 'host_name'], ['Volunteer', 'user'], ['Device', 'device'],
  ['State', 'server_state'], ['Outcome', 'outcome'],
  ['Verdict', 'validate_state'], ['Why', 'reason'], ['Received', 'received']];
const kWorkunitColumns = [
  ['Id', 'id'], ['Run', 'run'], ['Unit', 'unit_index'], ['State', 'state'],
  ['Check', 'check'], ['Base version', 'base_version'], ['Epoch', 'epoch'],
  ['Canonical', 'canonical_result'], ['Made', 'created']];

async function showLog() {
  const {made} = await ask('log', {limit: 1});
  const {rows} = await ask('log', {
    from: Math.max(1, made - kMostRows + 1), limit: kMostRows});
  showRows(rowsOf('log'), 'Orders', [
    ['No.', 'seq'], ['Time', 'time'], ['Who', 'who'], ['Order', 'command'],
    ['On', 'arguments'], ['Why', 'why'], ['Outcome', 'outcome']],
           rows.map((row) => JSON.parse(row.line)).reverse());
}

async function lookAtVerdicts() {
  const {units} = await ask('validate', {dry_run: true});
  showRows(rowsOf('by-hand'), 'Verdicts', [
    ['Workunit', 'workunit'], ['Run', 'run'], ['State', 'state'],
    ['Next', 'step'], ['Canonical', 'canonical'], ['Why', 'says']], units,
           (row) => [button('Unit', () => attempt(
               () => openUnit({workunit: row.workunit})))]);
}

async function lookAtSteps() {
  const runs = await ask('assimilate', {dry_run: true});
  const units = runs.flatMap(({run, units: all, why_none: none}) =>
    all.length > 0 ? all.map((unit) => ({run, ...unit}))
                   : [{run, basis: `nothing: ${none}`}]);
  showRows(rowsOf('by-hand'), 'Next steps', [
    ['Run', 'run'], ['Workunit', 'workunit'], ['Result', 'result'],
    ['Host', 'host_name'], ['Version', 'version_after'], ['Rests on', 'basis'],
    ['Update', 'update_norm'], ['Step', 'step_norm'],
    ['Coefficients', 'coefficients']], units);
}

const kShow = {
  'runs': showRuns,
  'results': () => showList('results', kResultColumns, resultActions),
  'workunits': () => showList('workunits', kWorkunitColumns, workunitActions),
  'by-hand': async () => {},
  'log': showLog,
};

async function show(name) {
  view = name;
  for (const choice of document.querySelectorAll('#views button')) {
    const isThis = choice.dataset.view === name;
    choice.setAttribute('aria-pressed', String(isThis));
    byId(choice.dataset.view).hidden = !isThis;
  }
  await kShow[name]();
}

function listen() {
  for (const choice of document.querySelectorAll('#views button')) {
    choice.onclick = () => {
      byId('unit').hidden = true;
      tell('');
      attempt(() => show(choice.dataset.view));
    };
  }
  for (const [name, states] of [
    ['results', kResultStates], ['workunits', kWorkunitStates]]) {
    const form = byId(name).querySelector('form');
    form.elements.state.append(...states.map(
        (state) => make('option', state || 'any', {value: state})));
    form.onsubmit = (event) => {
      event.preventDefault();
      attempt(() => show(name));
    };
  }
  byId('unit-close').onclick = () => { byId('unit').hidden = true; };
  byId('validate').onclick = () => attempt(lookAtVerdicts);
  byId('assimilate').onclick = () => attempt(lookAtSteps);
  byId('logout').onclick = () => attempt(async () => {
    await say('/admin/logout', {});
    showLogin();
    tell('You are logged out.');
  });
  byId('login').onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const form = event.target;
      const given = Object.fromEntries(new FormData(form));
      const session = await say('/admin/login', given);
      form.reset();
      await enter(session);
    });
  };
}

listen();
look('/admin/session').then(enter).catch((error) => {
  showLogin();
  if (error.status !== 401) tell(error.message, true);
});
