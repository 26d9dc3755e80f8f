// What can be done with a part of the text: with what is marked, with a section, and with a picture.

import { button, h, iconButton } from "/agent/page/dom.js";

// locate returns the passage of a Markdown text that is shown as some text; empty if there isn't exactly one.
export function locate(source, shown) {
  const marks = /!\[[^\]\n]*\]\([^)\n]*\)|\]\([^)\n]*\)|^(?:#{1,6}|[-*>]|\d+\.) +|[*_`[\]]|\s+/gm;
  let plain = "", from = 0;
  const at = [];
  const keep = (text, start) => {
    for (let i = 0; i < text.length; i++) at.push(start + i);
    plain += text;
  };
  for (const m of source.matchAll(marks)) {
    keep(source.slice(from, m.index), from);
    if (/^\s/.test(m[0]) && plain && !plain.endsWith(" ")) keep(" ", m.index);
    from = m.index + m[0].length;
  }
  keep(source.slice(from), from);
  const wanted = shown.replace(/[[\]*_`]/g, "").replace(/\s+/g, " ").trim(), i = plain.indexOf(wanted);
  if (wanted.length < 2 || i < 0 || plain.indexOf(wanted, i + 1) >= 0) return "";
  return source.slice(at[i], at[i + wanted.length - 1] + 1);
}

// caret returns where the end of the selection of a textarea is on the screen.
function caret(area) {
  const style = getComputedStyle(area), twin = h("div", { class: "twin", "aria-hidden": "true" }, area.value.slice(0, area.selectionEnd)), end = h("span", {}, "​");
  for (const name of ["font", "lineHeight", "padding", "border", "width", "letterSpacing"]) twin.style[name] = style[name];
  twin.append(end);
  document.body.append(twin);
  const box = area.getBoundingClientRect(), at = { left: box.left + end.offsetLeft, bottom: box.top + end.offsetTop + end.offsetHeight - area.scrollTop };
  twin.remove();
  return at;
}

// place puts what floats at a place on the screen, as far as it fits.
function place(el, left, top) {
  el.style.left = `${Math.max(8, Math.min(left, innerWidth - el.offsetWidth - 8))}px`;
  el.style.top = `${Math.max(64, Math.min(top, innerHeight - el.offsetHeight - 8))}px`;
}

// A SelectionBar stands beside what is marked, in the text or in the editor, and asks for changes of it.
export class SelectionBar {
  constructor(page) {
    this.page = page;
    this.element = h("div", { class: "selection-bar", popover: "manual", role: "toolbar", "aria-label": "Change what is marked", "data-testid": "selection", onmousedown: (e) => e.target.matches("input") || e.preventDefault(), onkeydown: (e) => e.key === "Escape" && this.hide(true) });
    this.end = new AbortController();
    for (const name of ["selectionchange", "scroll"]) document.addEventListener(name, () => this.update(), { capture: true, signal: this.end.signal });
  }

  // marked returns the marked passage as it is in the source, and where it ends on the screen.
  marked() {
    const { page } = this, area = page.editor?.area;
    if (page.working() || page.a.status === "archived") return null;
    if (area && document.activeElement === area) {
      const text = area.value.slice(area.selectionStart, area.selectionEnd).trim();
      return text.length > 1 ? { text, ...caret(area) } : null;
    }
    const selection = getSelection(), article = page.element.querySelector("[data-testid=artifact-content]");
    if (page.editor || selection.isCollapsed || !article?.contains(selection.anchorNode) || !article.contains(selection.focusNode)) return null;
    const box = selection.getRangeAt(0).getBoundingClientRect(), text = locate(page.a.content, selection.toString());
    return text ? { text, left: box.left, bottom: box.bottom } : null;
  }

  update() {
    if (!this.element.isConnected || this.element.contains(document.activeElement)) return;
    const found = this.marked();
    if (!found) return this.hide();
    this.text = found.text;
    const ask = (label, instruction) => button(label, () => this.ask(instruction, label), "quiet");
    this.element.replaceChildren(ask("Shorter", "Make it shorter"), ask("Friendlier", "Make it friendlier"), button("Rewrite …", () => this.form("How should it be?", "Rewrite", (v) => v), "quiet"), button("Translate …", () => this.form("Into which language?", "Translate", (v) => `Translate it into ${v}`), "quiet"));
    if (!this.element.matches(":popover-open")) this.element.showPopover();
    place(this.element, found.left, found.bottom + 8);
  }

  form(label, what, instruction) {
    const input = h("input", { class: "input", "aria-label": label, placeholder: label, maxLength: 400, required: true });
    this.element.replaceChildren(h("form", { class: "row", onsubmit: (e) => (e.preventDefault(), this.ask(instruction(input.value.trim()), what)) }, input, h("button", { type: "submit", class: "button primary" }, what)));
    input.focus();
  }

  ask(instruction, label) {
    this.hide();
    this.page.propose({ selection: this.text, instruction }, label);
  }

  hide(back) {
    if (this.element.matches(":popover-open")) this.element.hidePopover();
    if (back) (this.page.editor?.area ?? this.page.element.querySelector("[data-testid=artifact-content]"))?.focus();
  }
}

let menus = 0;

// menu returns a button and what it opens. Escape and a click elsewhere close it.
function menu(name, label, ...children) {
  const id = `part-menu-${++menus}`, opener = iconButton(name, label, () => {}, { class: "icon-button part" });
  opener.setAttribute("popovertarget", id);
  const el = h("div", { id, class: "part-menu", popover: "auto", role: "group", "aria-label": label }, children);
  el.addEventListener("toggle", (e) => {
    if (e.newState !== "open") return;
    const box = opener.getBoundingClientRect();
    place(el, box.right - el.offsetWidth, box.bottom + 4);
    el.querySelector("input, button").focus();
  });
  el.addEventListener("click", (e) => e.target.closest("button") && !e.target.closest("form") && el.hidePopover());
  return [opener, el];
}

// parts adds a button to each heading of a section and to each picture, and returns what these buttons open.
export function parts(page, article) {
  const menus = [];
  if (page.working() || page.a.status === "archived") return menus;
  for (const title of article.querySelectorAll("h2")) {
    const section = title.textContent.trim();
    let image = title.nextElementSibling;
    while (image && !image.matches("h2") && !image.querySelector("img")) image = image.nextElementSibling;
    const picture = image?.matches("h2") ? null : image?.querySelector("img");
    const item = (label, edit) => button(label, () => page.propose(edit, label), "quiet");
    const [opener, el] = menu("pen", `Change the section “${section}”`, item("Write it again", { section, again: true }), item("Make it shorter", { section, instruction: "Make it shorter" }), picture ? item("Another picture", { picture: picture.getAttribute("src") }) : null, item("Cut it out", { section, remove: true, instruction: `Cut the section “${section}”` }));
    const row = h("div", { class: "section-head" });
    title.replaceWith(row);
    row.append(title, opener);
    menus.push(el);
  }
  for (const image of article.querySelectorAll("img")) {
    const shows = h("input", { class: "input", value: image.alt, maxLength: 400, "aria-label": "What it should show" });
    const [opener, el] = menu("reload", `Another picture instead of “${image.alt}”`, h("form", { class: "stack", onsubmit: (e) => {
      e.preventDefault();
      el.hidePopover();
      page.propose({ picture: image.getAttribute("src"), instruction: shows.value.trim() === image.alt ? "" : shows.value.trim() }, "Drawing another picture");
    } }, h("label", { class: "field" }, h("span", { class: "name" }, "What it should show"), shows), h("button", { type: "submit", class: "button primary" }, "Draw another picture")));
    const figure = h("span", { class: "figure" });
    image.replaceWith(figure);
    figure.append(image, opener);
    menus.push(el);
  }
  return menus;
}
