// Numbers, times and sizes in words. Pure: every text of the page is made here.

export const kNothing = '–';

const kDateTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric', month: 'short',
  hour: '2-digit', minute: '2-digit', second: '2-digit',
});

export function count(value) {
  return Number.isFinite(value) ? value.toLocaleString('en') : kNothing;
}

// "1 host", "1,234 hosts"
export function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

export function fixed(value, digits) {
  if (!Number.isFinite(value)) return kNothing;
  return value.toLocaleString(
      'en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

export function percent(share, digits) {
  return Number.isFinite(share) ? `${fixed(share * 100, digits)} %` : kNothing;
}

// The decimals that tell labels apart which are `step` from one another.
export function decimals(step) {
  if (!(step > 0)) return 0;
  // A little more than the logarithm: 0.98 - 0.97 is not quite 0.01.
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-6));
}

export function credit(value) {
  return fixed(value, value < 100 ? 3 : 2);
}

// A number with three digits and the prefix that fits: 15.3 G
function scaled(value, unit) {
  if (!Number.isFinite(value)) return kNothing;
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let power = 0;
  for (; value >= 999.5 && power + 1 < prefixes.length; ++power) value /= 1000;
  const digits = value.toLocaleString('en', {maximumSignificantDigits: 3});
  return `${digits} ${prefixes[power]}${unit}`;
}

export function bytes(value) {
  return scaled(value, 'B');
}

// Of a device; 0 is "not measured yet".
export function speed(flops) {
  return flops > 0 ? `${scaled(flops, 'FLOP/s')}` : kNothing;
}

const kUnits = [['day', 86400], ['h', 3600], ['min', 60], ['s', 1]];

// "3 h 20 min": the two largest units.
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return kNothing;
  let left = Math.max(0, Math.round(seconds));
  const parts = [];
  for (const [unit, length] of kUnits) {
    const amount = Math.floor(left / length);
    left -= amount * length;
    if (amount === 0 && (parts.length === 0 && length > 1)) continue;
    if (amount > 0 || parts.length === 0) {
      parts.push(`${amount} ${unit}${unit === 'day' && amount > 1 ? 's' : ''}`);
    }
    if (parts.length === 2 || length <= 60 && amount >= 10) break;
  }
  return parts.join(' ');
}

// Both in milliseconds since 1970, by the server's clock: the reader's may be
// wrong.
export function ago(time, now) {
  if (!time) return kNothing;
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

export function dateTime(time) {
  return time ? kDateTime.format(time) : kNothing;
}

export function atVersion(version) {
  return Number.isFinite(version) ? `at version ${count(version)}` : '';
}

// "result_rejected" as "result rejected"
export function spoken(name) {
  return name.replaceAll('_', ' ');
}
