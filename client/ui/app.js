'use strict';
// The volunteer's page: asks for the status and sends what is switched.
// Whatever it shows goes in as text, never as HTML.

const kPollMillis = 2000;
// "/TOKEN/page": every request is below it, and a change repeats it.
const token = location.pathname.split('/')[1];

const byId = (id) => document.getElementById(id);
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function figure(list, name, value) {
  const group = document.createElement('div');
  const term = document.createElement('dt');
  const detail = document.createElement('dd');
  term.textContent = name;
  detail.textContent = value;
  group.append(term, detail);
  list.append(group);
}

function showFigures(list, project) {
  list.replaceChildren();
  const standing = project.standing;
  if (standing) {
    figure(list, 'Valid', standing.valid);
    figure(list, 'Invalid', standing.invalid);
    figure(list, 'Pending', standing.pending);
    figure(list, 'Too late or failed', standing.errors);
    figure(list, 'Credit', standing.credit.toFixed(3));
  }
  figure(list, 'Reported', project.reported);
  figure(list, 'Failed', project.failed);
  figure(list, 'Received', megabytes(project.received_bytes));
  figure(list, 'Sent', megabytes(project.sent_bytes));
}

function taskItem(task) {
  const item = byId('task').content.cloneNode(true);
  item.querySelector('.what').textContent =
      `Result ${task.result}: ${task.text}`;
  const bar = item.querySelector('progress');
  bar.hidden = task.steps === 0;
  bar.value = task.steps === 0 ? 0 : task.step / task.steps;
  bar.setAttribute('aria-label', `progress of result ${task.result}`);
  return item;
}

function runItem(share) {
  const item = document.createElement('li');
  item.textContent = `${share.results} results are part of the model of run ` +
      `${share.run}, in versions ${share.first_version} to ` +
      `${share.last_version}`;
  return item;
}

function projectCard(project) {
  const card = byId('project').content.cloneNode(true);
  const find = (name) => card.querySelector(name);
  find('.name').textContent = project.name;
  find('.agent').textContent = project.running ?
      `${project.url} – ${project.computing}` :
      `${project.url} – no agent is running: quorate-client run`;
  const trouble = find('.trouble');
  trouble.textContent = project.trouble || project.state_trouble;
  trouble.hidden = trouble.textContent === '';
  showFigures(find('.figures'), project);
  const runs = project.standing ? project.standing.runs : [];
  find('.runs').append(...runs.map(runItem));
  find('.rest').textContent = project.why ? `Rests: ${project.why}` :
      project.no_work ? `Waits: ${project.no_work}` : '';
  find('.tasks').append(...project.tasks.map(taskItem));
  find('.leave').dataset.fingerprint = project.fingerprint;
  find('.leave').dataset.name = project.name;
  return card;
}

function showPause(status) {
  const until = new Date(status.paused_until);
  byId('resume').hidden = !status.paused && !status.finishing;
  byId('finish').hidden = status.paused || status.finishing;
  setText(byId('pause-text'), status.finishing ?
      'Takes no new work; computes what is here, then rests.' :
      !status.paused ? 'Not paused.' :
      status.paused_until === 0 ? 'Paused until you resume.' :
      `Paused until ${until.toLocaleString()}.`);
}

// What somebody is typing is left alone.
function showPrefs(prefs) {
  for (const field of byId('prefs').elements) {
    if (field === document.activeElement) continue;
    const value = prefs[field.name];
    field.value = value === true ? 'yes' : value === false ? 'no' : value;
  }
}

function show(status) {
  setText(byId('state'), status.headline);
  showPause(status);
  showPrefs(status.prefs);
  byId('no-project').hidden = status.projects.length > 0;
  byId('projects').replaceChildren(...status.projects.map(projectCard));
}

async function ask(path, change) {
  const options = change === undefined ? {} : {
    method: 'POST',
    headers: {'X-Quorate-Token': token, 'Content-Type': 'application/json'},
    body: JSON.stringify(change),
  };
  const reply = await fetch(path, options);
  const json = await reply.json();
  if (!reply.ok) throw new Error(json.message);
  return json;
}

// Says what was wrong in the element `refusal`; true: it was done.
async function send(path, change, refusal = 'refusal') {
  setText(byId(refusal), '');
  try {
    show(await ask(path, change));
    return true;
  } catch (error) {
    setText(byId(refusal), error.message);
    return false;
  }
}

async function poll() {
  try {
    show(await ask('status'));
  } catch (error) {
    setText(byId('state'), `cannot be reached: ${error.message}`);
  }
  setTimeout(poll, kPollMillis);
}

for (const button of document.querySelectorAll('[data-seconds]')) {
  button.addEventListener('click', () => {
    send('pause', {seconds: Number(button.dataset.seconds)});
  });
}
byId('attach').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const [address, name] = [form.elements.address, form.elements.name];
  const button = form.querySelector('button');
  button.disabled = true;
  const change = {address: address.value.trim(), name: name.value.trim()};
  if (await send('attach', change, 'attach-refusal')) form.reset();
  button.disabled = false;
});
byId('projects').addEventListener('click', (event) => {
  const button = event.target.closest('.leave');
  if (button && confirm(`Leave ${button.dataset.name}? Unfinished work is ` +
      'given up; your keys stay.')) {
    send('detach', {fingerprint: button.dataset.fingerprint}, 'attach-refusal');
  }
});
byId('finish').addEventListener('click', () => send('finish', {}));
byId('resume').addEventListener('click', () => send('resume', {}));
byId('snooze').addEventListener('submit', (event) => {
  event.preventDefault();
  send('pause', {seconds: 60 * Number(byId('minutes').value)});
});
byId('prefs').addEventListener('change', (event) => {
  send('prefs', {key: event.target.name, value: event.target.value});
});
byId('prefs').addEventListener('submit', (event) => event.preventDefault());

// A project's page links to quorate://…, which opens this page: `ui LINK`.
function showOffer() {
  const match = /^#join=(.*)$/.exec(location.hash);
  if (!match) return;
  try {
    byId('attach').elements.address.value = decodeURIComponent(match[1]);
  } catch {
    return;
  }
  byId('offer').hidden = false;
  byId('attach').scrollIntoView();
}

showOffer();
poll();
