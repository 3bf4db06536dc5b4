// Texts and tables. Everything goes in as text, never as HTML. Nodes are
// updated in place, so that focus, selection and scroll positions survive.
import {count, kNothing} from './format.js';

// Rows that a table shows before its reader asks for all.
const firstRows = () => matchMedia('(max-width: 40rem)').matches ? 5 : 10;

export const byId = (id) => document.getElementById(id);

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// The words for one field, or for what a format makes of several. A field
// without a format is a count.
function words(name, formats, data, index) {
  return formats[name] ? formats[name](data, index) : count(data[name]);
}

// Fills the nodes that are marked data-value="NAME".
export function fill(root, formats, data) {
  for (const node of root.querySelectorAll('[data-value]')) {
    setText(node, words(node.dataset.value, formats, data));
  }
}

// Makes the children of parent stand for items, one each, in their order.
export function syncChildren(parent, items, make, update) {
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

// On a phone a row is laid out as a card (style.css), with the heads as labels;
// the roles keep it a row of a table for whoever listens to it.
function makeRow(heads) {
  const row = document.createElement('tr');
  row.setAttribute('role', 'row');
  for (const head of heads) {
    const isKey = head.classList.contains('key');
    const cell = document.createElement(isKey ? 'th' : 'td');
    if (isKey) cell.scope = 'row';
    cell.setAttribute('role', isKey ? 'rowheader' : 'cell');
    cell.className = head.className;
    cell.dataset.label = head.textContent;
    row.append(cell);
  }
  return row;
}

function makeMoreButton(table) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'more';
  button.setAttribute('aria-controls', table.id);
  button.addEventListener('click', () => {
    const isOpen = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!isOpen));
    button.dispatchEvent(new CustomEvent('more', {bubbles: true}));
  });
  button.setAttribute('aria-expanded', 'false');
  table.parentElement.after(button);
  return button;
}

const moreButtons = new Map();

// How many of so many rows are shown, by the table's button.
function rowsToShow(table, length) {
  if (!moreButtons.has(table)) moreButtons.set(table, makeMoreButton(table));
  const button = moreButtons.get(table);
  const isOpen = button.getAttribute('aria-expanded') === 'true';
  const first = firstRows();
  // A button for one or two rows takes their place.
  if (length <= first + 2) {
    button.hidden = true;
    return length;
  }
  button.hidden = false;
  setText(button, isOpen ? `Show the first ${first} only`
                         : `Show ${count(length - first)} more`);
  return isOpen ? length : first;
}

// One row of the table for each item; the heads name the fields.
// A table in a box that is too narrow for it is scrolled by keyboard, too.
export function fillTable(table, items, formats, decorate = () => {}) {
  const heads = [...table.tHead.rows[0].cells];
  const update = (row, item, index) => {
    heads.forEach((head, column) => {
      const text = words(head.dataset.cell, formats, item, index);
      setText(row.cells[column], text === '' ? kNothing : text);
    });
    decorate(row, item);
  };
  const shown = items.slice(0, rowsToShow(table, items.length));
  syncChildren(table.tBodies[0], shown, () => makeRow(heads), update);
  const box = table.parentElement;
  box.hidden = items.length === 0;
  byId(`no-${table.id}`).hidden = items.length > 0;
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
  } else {
    box.removeAttribute('tabindex');
  }
}
