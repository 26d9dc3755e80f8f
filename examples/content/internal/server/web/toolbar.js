// The toolbar of the editor: marks of Markdown, with their keys.

import { h } from "/agent/page/dom.js";

const mac = /Mac|iPhone|iPad/.test(navigator.platform);
const keyName = (keys) => keys.replace("Mod", mac ? "⌘" : "Ctrl").replace("Alt", mac ? "⌥" : "Alt");

// name, label, keys, the code of the key, and what the icon draws
const marks = [
  ["bold", "Bold", "Mod+B", "KeyB", "M7 5h6a3.500 3.500 0 0 1 0 7H7zM7 12h7a3.500 3.500 0 0 1 0 7H7z"],
  ["italic", "Italic", "Mod+I", "KeyI", "M10 5h8M6 19h8M14 5l-4 14"],
  ["heading", "Heading", "Mod+Alt+H", "KeyH", "M6 5v14M18 5v14M6 12h12"],
  ["list", "List", "Mod+Alt+L", "KeyL", "M9 6h11M9 12h11M9 18h11M4.500 6v.01M4.500 12v.01M4.500 18v.01"],
  ["quote", "Quote", "Mod+Alt+Q", "KeyQ", "M5 17c2-1 3-3 3-5H5V7h5v5c0 3-2 5-5 5zM14 17c2-1 3-3 3-5h-3V7h5v5c0 3-2 5-5 5z"],
  ["link", "Link", "Mod+K", "KeyK", "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1"],
  ["picture", "Place for a picture", "Mod+Alt+P", "KeyP", "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.500 9v.01"],
];

function sign(path) {
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), line = document.createElementNS(ns, "path");
  for (const [k, v] of Object.entries({ viewBox: "0 0 24 24", width: 18, height: 18, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" })) svg.setAttribute(k, v);
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

// insert replaces the selection of a field, so that the browser's undo takes it back, and selects a part of what it has inserted.
export function insert(area, text, from = text.length, to = from) {
  const at = area.selectionStart;
  area.focus();
  if (!document.execCommand("insertText", false, text)) area.setRangeText(text);
  area.setSelectionRange(at + from, at + to);
}

// around puts a mark around the selection, or takes it away.
function around(area, mark, sample) {
  const { selectionStart: a, selectionEnd: b, value } = area, n = mark.length, text = value.slice(a, b) || sample;
  if (value.slice(a - n, a) === mark && value.slice(b, b + n) === mark && value[a - n - 1] !== "*") {
    area.setSelectionRange(a - n, b + n);
    return insert(area, value.slice(a, b), 0, b - a);
  }
  return insert(area, mark + text + mark, n, n + text.length);
}

// lines puts a mark in front of the selected lines, or takes it away.
function lines(area, mark) {
  const { value } = area, a = value.lastIndexOf("\n", area.selectionStart - 1) + 1, end = value.indexOf("\n", area.selectionEnd), b = end < 0 ? value.length : end;
  const all = value.slice(a, b).split("\n"), on = all.every((l) => l.startsWith(mark));
  const text = all.map((l) => (on ? l.slice(mark.length) : mark + l.replace(/^(#+|[-*>]) /, ""))).join("\n");
  area.setSelectionRange(a, b);
  insert(area, text, text.length);
}

export const actions = {
  bold: (area) => around(area, "**", "bold"),
  italic: (area) => around(area, "*", "italic"),
  heading: (area) => lines(area, "## "),
  list: (area) => lines(area, "- "),
  quote: (area) => lines(area, "> "),
  link(area) {
    const text = area.value.slice(area.selectionStart, area.selectionEnd) || "text";
    insert(area, `[${text}](https://)`, text.length + 3, text.length + 11);
  },
  picture(area) {
    const before = area.value.slice(0, area.selectionStart), gap = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    const text = `${gap}[IMAGE: what it shows]\n\n`;
    insert(area, text, gap.length + 8, gap.length + 21);
  },
};

// toolbar returns the buttons, and handles their keys in the field.
export function toolbar(area) {
  area.addEventListener("keydown", (e) => {
    if (!(mac ? e.metaKey : e.ctrlKey) || e.shiftKey) return;
    const mark = marks.find(([, , keys, code]) => code === e.code && keys.includes("Alt") === e.altKey);
    if (!mark) return;
    e.preventDefault();
    actions[mark[0]](area);
  });
  return h("div", { class: "marks", role: "group", "aria-label": "Format" }, marks.map(([name, label, keys, , path]) => h("button", { type: "button", class: "icon-button", "data-mark": name, title: `${label} (${keyName(keys)})`, "aria-label": label, "aria-keyshortcuts": keys.replace("Mod", mac ? "Meta" : "Control"), onmousedown: (e) => e.preventDefault(), onclick: () => actions[name](area) }, sign(path))));
}
