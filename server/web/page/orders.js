// What is said to the server: logins and orders; and the dialog before an order.
// Everything goes in as text, never as HTML.

const byId = (id) => document.getElementById(id);

// Of the session: an order is taken only with it. In this page's memory alone.
let token = '';
export function setToken(value) { token = value; }

// What the server answered that is no success: its words, and the status.
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answerOf(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new Refused(response.status,
                    body.message ?? `the server answered ${response.status}`);
}

export async function look(path) {
  return answerOf(await fetch(path, {cache: 'no-store'}));
}

export async function say(path, body) {
  return answerOf(await fetch(path, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', 'X-Quorate-Token': token},
    body: JSON.stringify(body),
  }));
}

// A question, or an order that can be undone.
export function ask(command, given = {}, confirmed = false) {
  return say(`/admin/orders/${command}`, {arguments: given, confirmed});
}

function field({name, label, type = 'text', value = '', required = true}) {
  const box = document.createElement('label');
  const input = document.createElement('input');
  Object.assign(input, {name, type, required});
  if (type === 'checkbox') {
    input.required = false;
    input.checked = Boolean(value);
  } else {
    input.value = value;
  }
  if (type === 'number') Object.assign(input, {min: 0, step: 'any'});
  if (name === 'why') input.maxLength = 500;
  box.append(label, ' ', input);
  return box;
}

function valuesOf(box) {
  const values = {};
  for (const input of box.querySelectorAll('input')) {
    if (input.type === 'checkbox') {
      if (input.checked) values[input.name] = true;
    } else if (input.type === 'number') {
      values[input.name] = Number(input.value);
    } else {
      values[input.name] = input.value;
    }
  }
  return values;
}

function tell(node, text) {
  node.textContent = text;
  node.hidden = !text;
}

const kWhy = {name: 'why', label: 'Why (those who read the log later see it)'};

// Asks before an order: shows what is known (preview: a promise of lines), why,
// other fields, and what cannot be undone, which the server says. done: called
// with the answer.
export function openOrder({title, command, given, fields = [], needsWhy = true,
                           preview, done}) {
  const dialog = byId('order');
  const box = byId('order-fields');
  const all = needsWhy ? [...fields, kWhy] : fields;
  byId('order-title').textContent = title;
  byId('order-do').textContent = 'Give the order';
  box.replaceChildren(...all.map(field));
  byId('order-preview').replaceChildren();
  for (const id of ['order-warning', 'order-error']) tell(byId(id), '');
  preview?.then((lines) => byId('order-preview').replaceChildren(
      ...lines.map((line) => {
        const item = document.createElement('li');
        item.textContent = line;
        return item;
      })), (error) => tell(byId('order-error'), error.message));
  let isConfirmed = false;
  // What was confirmed is what was shown: another choice asks again.
  box.oninput = () => {
    isConfirmed = false;
    tell(byId('order-warning'), '');
    byId('order-do').textContent = 'Give the order';
  };
  dialog.querySelector('form').onsubmit = async (event) => {
    event.preventDefault();
    byId('order-do').disabled = true;
    tell(byId('order-error'), '');
    try {
      const answer =
          await ask(command, {...given, ...valuesOf(box)}, isConfirmed);
      dialog.close();
      done(answer);
    } catch (error) {
      if (error.status === 409) {
        isConfirmed = true;
        tell(byId('order-warning'), error.message);
        byId('order-do').textContent = 'Yes, give it all the same';
      } else {
        tell(byId('order-error'), error.message);
      }
    } finally {
      byId('order-do').disabled = false;
    }
  };
  byId('order-leave').onclick = () => dialog.close();
  dialog.showModal();
}
