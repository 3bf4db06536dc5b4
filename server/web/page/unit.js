// One workunit: what is known of it, and its results' claims side by side.
import {make} from './lists.js';
import {ask} from './orders.js';

const kShort = 12;  // digits of a hash that are shown
const kMostDigests = 64;

// "init" until there is one.
const verdictOf = (row) =>
    row.validate_state === 'init' ? 'waits' : row.validate_state;

const kFacts = [
  ['Host', (row) => `${row.host || ''} ${row.host_name ?? '–'}`],
  ['Volunteer', (row) => row.user ?? '–'],
  ['Counts as', (row) => row.as ?? '–'],
  ['Device', (row) => row.device ?? '–'],
  ['State', (row) => `${row.server_state}, ${row.outcome}`],
  ['Verdict', verdictOf],
  ['Why', (row) => row.reason || '–'],
];
// What two that computed the same have in common.
const kClaims = [
  ['Claim', (row) => row.claim?.slice(0, kShort)],
  ['Update', (row) => row.update?.slice(0, kShort)],
  ['Samples', (row) => row.samples],
  ['Loss', (row) => row.loss],
];

function lineOf(head, results, value, reference) {
  const cells = results.map((row) => {
    const text = String(value(row) ?? '–');
    const differs = reference && row.claim &&
        value(row) !== value(reference);
    return make('td', text, {className: differs ? 'differs' : ''});
  });
  return make('tr', [make('th', head, {scope: 'row'}), ...cells]);
}

// The canonical result, else the first that claims something.
function referenceOf(results) {
  return results.find((row) => row.canonical) ??
      results.find((row) => row.claim);
}

function claimsTable(results) {
  const reference = referenceOf(results);
  const head = make('tr', [make('th', 'Result', {scope: 'col'}),
    ...results.map((row) => make(
        'th', `${row.id}${row.canonical ? ' (canonical)' : ''}`,
        {scope: 'col'}))]);
  const lines = kFacts.map(([name, value]) => lineOf(name, results, value));
  for (const [name, value] of kClaims) {
    lines.push(lineOf(name, results, value, reference));
  }
  const digests = Math.max(0, ...results.map(
      (row) => row.digests?.length ?? 0));
  for (let i = 0; i < Math.min(digests, kMostDigests); ++i) {
    lines.push(lineOf(`State digest ${i + 1}`, results,
                      (row) => row.digests?.[i]?.slice(0, kShort), reference));
  }
  return make('table', [
    make('caption', 'Claims side by side; what differs is marked',
         {className: 'hidden-visually'}),
    make('thead', [head]), make('tbody', lines)], {className: 'claims'});
}

function differenceOf(one) {
  return one.first_step === null
      ? `Results ${one.result} and ${one.other}: the same states; the ` +
        `${one.part} differs.`
      : `Results ${one.result} and ${one.other} part between steps ` +
        `${one.first_step} and ${one.last_step}.`;
}

export async function showUnit(section, title, body, wanted) {
  const unit = await ask('workunit-show', wanted);
  title.textContent =
      `Workunit ${unit.id}: unit ${unit.unit_index} of run ${unit.run}`;
  const table = make('div', [claimsTable(unit.results)],
                     {className: 'scroll'});
  body.replaceChildren(
      make('p', `${unit.state}: ${unit.why}. Check: ${unit.why_check}.`),
      make('p', `Next: ${unit.next}`),
      make('p', `${unit.quorum.reached} of ${unit.quorum.needed} users agree; ` +
                `${unit.quorum.claims} claims; rests on: ` +
                `${unit.quorum.basis ?? 'no verdict so far'}.`),
      ...unit.differences.map((one) => make('p', differenceOf(one))), table);
  section.hidden = false;
  section.scrollIntoView({block: 'nearest'});
}

// For the dialog before an order: the unit as it is, and what the server would
// do next.
export async function previewOf(wanted) {
  const unit = await ask('workunit-show', wanted);
  const lines = [
    `Workunit ${unit.id} of run ${unit.run} is ${unit.state}: ${unit.why}.`];
  for (const row of unit.results.filter((one) => one.claim)) {
    lines.push(`Result ${row.id} of host ${row.host_name}: ` +
               `${verdictOf(row)}, claim ${row.claim.slice(0, kShort)}`);
  }
  const dry = await ask('validate', {workunit: unit.id, dry_run: true});
  lines.push(`Without the order: ${dry.units[0]?.says ?? unit.next}`);
  return lines;
}
