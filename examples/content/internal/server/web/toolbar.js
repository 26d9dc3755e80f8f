// The toolbar of the editor: marks of Markdown, with their keys.

import { h, iconButton } from "/agent/page/dom.js";

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

// the name of the icon, the label, the keys, and the code of the key
const marks = [["bold", "Bold", "Mod+B", "KeyB"], ["italic", "Italic", "Mod+I", "KeyI"], ["heading", "Heading", "Mod+Alt+H", "KeyH"], ["list", "List", "Mod+Alt+L", "KeyL"], ["quote", "Quote", "Mod+Alt+Q", "KeyQ"], ["link", "Link", "Mod+K", "KeyK"], ["picture", "Place for a picture", "Mod+Alt+P", "KeyP"]];

// insert replaces the selection of a field, so that the browser's undo takes it back, and selects a part of what it has inserted.
function insert(area, text, from = text.length, to = from) {
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

const actions = {
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
  return h("div", { class: "marks", role: "group", "aria-label": "Format" }, marks.map(([name, label, keys]) => iconButton(name, label, () => actions[name](area), { "data-mark": name, title: `${label} (${keys.replace("Mod", mac ? "⌘" : "Ctrl")})`, "aria-keyshortcuts": keys.replace("Mod", mac ? "Meta" : "Control"), onmousedown: (e) => e.preventDefault() })));
}
