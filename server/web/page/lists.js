// Tables of rows that the server tells, with what can be done about each.

const kNothing = '–';
const kTimes = new Set(['time', 'sent', 'received', 'created']);

function words(key, value) {
  if (value === null || value === undefined || value === '') return kNothing;
  if (kTimes.has(key)) {
    return value ? new Date(value).toLocaleString('en-GB') : kNothing;
  }
  if (Array.isArray(value)) return value.join(', ') || kNothing;
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number' && !Number.isInteger(value)) {
    return String(Number(value.toPrecision(5)));
  }
  return String(value);
}

// tag with text or children.
export function make(tag, content = '', properties = {}) {
  const node = document.createElement(tag);
  if (Array.isArray(content)) {
    node.append(...content);
  } else {
    node.textContent = content;
  }
  return Object.assign(node, properties);
}

export function button(label, onclick) {
  return make('button', label, {type: 'button', onclick});
}

// columns: [head, key]; actions: makes the buttons of a row.
export function showRows(box, caption, columns, rows, actions = () => []) {
  if (rows.length === 0) {
    box.replaceChildren(make('p', 'None.', {className: 'empty'}));
    return;
  }
  const head = make('tr', columns.map(
      ([text]) => make('th', text, {scope: 'col'})));
  const hasActions = actions(rows[0]).length > 0 || rows.some(
      (row) => actions(row).length > 0);
  if (hasActions) head.append(make('th', 'Orders', {scope: 'col'}));
  const lines = rows.map((row) => {
    const cells = columns.map(([, key]) => make('td', words(key, row[key])));
    if (hasActions) {
      cells.push(make('td', actions(row), {className: 'orders'}));
    }
    return make('tr', cells);
  });
  box.replaceChildren(make('table', [
    make('caption', caption, {className: 'hidden-visually'}),
    make('thead', [head]), make('tbody', lines)]));
}

// The filters that somebody filled in.
export function filtersOf(form) {
  return Object.fromEntries(
      [...new FormData(form)].filter(([, value]) => value !== ''));
}
