// Numbers, times and names as people read them.

const number = new Intl.NumberFormat();
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export const count = (n) => number.format(n);

// when says how long ago a time was: in words for a week, then as a date.
export function when(date, now = Date.now()) {
  const seconds = (date - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return relative.format(0, "second");
  if (size < 3600) return relative.format(Math.round(seconds / 60), "minute");
  if (size < 86400) return relative.format(Math.round(seconds / 3600), "hour");
  if (size < 7 * 86400) return relative.format(Math.round(seconds / 86400), "day");
  return day.format(date);
}

export const exactly = (date) => exact.format(date);

function unit(value, name, digits = 0) {
  return new Intl.NumberFormat(undefined, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits }).format(value);
}

// duration formats milliseconds with one or two units.
export function duration(ms) {
  if (ms < 1000) return unit(Math.max(1, Math.round(ms)), "millisecond");
  if (ms < 10_000) return unit(ms / 1000, "second", 1);
  if (ms < 60_000) return unit(Math.round(ms / 1000), "second");
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) {
    const rest = Math.floor((ms % 60_000) / 1000);
    return rest && minutes < 10 ? `${unit(minutes, "minute")} ${unit(rest, "second")}` : unit(minutes, "minute");
  }
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${unit(hours, "hour")} ${unit(minutes % 60, "minute")}` : unit(hours, "hour");
  return unit(Math.floor(hours / 24), "day");
}

export function bytes(n) {
  if (n < 1000) return unit(n, "byte");
  if (n < 1_000_000) return unit(n / 1000, "kilobyte", n < 10_000 ? 1 : 0);
  return unit(n / 1_000_000, "megabyte", 1);
}

// humanized turns the name of a tool or a field into words: "delete_page" and "deletePage" become "Delete page".
export function humanized(name) {
  const words = String(name)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[\s_.\-/]+/)
    .filter(Boolean);
  const text = words.map((w) => (w.length > 1 && w === w.toUpperCase() ? w : w.toLowerCase())).join(" ");
  return text ? text[0].toUpperCase() + text.slice(1) : String(name);
}

// naming says how tools are called on the page, and which fields of their inputs say what a call is about, the most important first. learn reads the
// result of a call, so that name can return the name of what later calls refer to by an id. problem says in words why a call failed. A host's own page
// may change all of it.
export const naming = { tool: humanized, subjects: [], learn: () => {}, name: (text) => text, problem: (text) => text };

// parsed returns the value of JSON text, or undefined if JavaScript can't keep it exactly, such as long numbers: what a person approves must be what
// runs, so such text is shown as it is.
export function parsed(text) {
  try {
    const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, "");
    return /\d{16}|\d[eE]/.test(numbers) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

// subjects returns the values of a call's input that say what it is about: its texts, or its numbers if it has no texts.
function subjects(input) {
  const value = input ? parsed(input) : undefined;
  if (!value || typeof value !== "object" || Array.isArray(value)) return [];
  const rank = ([name]) => (naming.subjects.includes(name) ? naming.subjects.indexOf(name) : naming.subjects.length);
  const all = Object.entries(value).sort((a, b) => rank(a) - rank(b)).map(([, v]) => v);
  const texts = all.filter((v) => typeof v === "string" && v !== "");
  return texts.length > 0 ? texts.map(naming.name) : all.filter((v) => typeof v === "number");
}

// object says in a few words what a call is about.
export function object(input) {
  if (input && parsed(input) === undefined) return oneLine(input, 80);
  return subjects(input).slice(0, 3).map((v) => oneLine(String(v), 60)).join(" · ");
}

// sentence makes a text begin with a capital letter and end with a full stop.
export function sentence(text) {
  return text[0].toUpperCase() + text.slice(1) + (/[.?!:]$/.test(text) ? "" : ".");
}

export function oneLine(text, most) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? line.slice(0, most - 1) + "…" : line;
}
