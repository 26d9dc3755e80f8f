// The texts of a conversation: the user's messages, the agent's answers, reasoning, sources, files and notices.

import { add, button, h, icon, trusted } from "./dom.js";
import { bytes, exactly, sentence, when } from "./format.js";
import { texts } from "./texts.js";

// user shows a message of the user. note is a word about its state.
export function user(item, note) {
  const time = item.time ? new Date(item.time) : null;
  const bubble = item.text ? h("div", { class: "bubble" }, item.text) : null;
  return h(
    "article",
    { class: "user", "aria-label": texts.you },
    files(item.files),
    bubble && foldable(bubble, item.text.split("\n").length > 16 || item.text.length > 1600),
    h("span", { class: "who" }, note ?? [item.by || texts.you, item.steered ? ` · ${texts.addedWhileWorking}` : "", time ? [" · ", timeOf(time)] : ""]),
  );
}

// timeOf is a time as words; ages() keeps them right.
export function timeOf(date) {
  return h("time", { dateTime: date.toISOString(), title: exactly(date) }, when(date));
}

// ages renews the words of all times in an element.
export function ages(root) {
  for (const el of root.querySelectorAll("time[datetime]")) {
    const words = when(new Date(el.dateTime));
    if (el.textContent !== words) el.textContent = words;
  }
}

// foldable hides most of a long element until somebody wants to see it.
export function foldable(el, long) {
  if (!long) return el;
  el.classList.add("folded");
  const more = h("button", { type: "button", class: "show-all", "aria-expanded": "false" }, texts.showAll);
  more.addEventListener("click", () => {
    const folded = el.classList.toggle("folded");
    more.textContent = folded ? texts.showAll : texts.showLess;
    more.setAttribute("aria-expanded", String(!folded));
  });
  return [el, more];
}

export function files(list) {
  if (!list?.length) return null;
  return h("div", { class: "files" }, list.map((f) => (f.url?.startsWith("data:image/") ? h("img", { class: "thumb", src: f.url, alt: f.name || texts.result }) : fileChip(f))));
}

export function fileChip(f, ...more) {
  return h("span", { class: "file" }, icon("file"), h("span", {}, f.name || f.type), f.size ? h("span", { class: "muted" }, bytes(f.size)) : null, more);
}

// A Prose is a text of the agent. Its blocks come as HTML that the server has sanitized.
export class Prose {
  constructor(item) {
    this.body = h("div", { class: "prose" });
    if (item.kind === "reasoning") {
      this.label = h("summary", {});
      this.element = h("details", { class: "reasoning part" }, this.label, this.body);
    } else {
      this.element = h("div", { class: "part" }, this.body);
    }
    this.update(item);
  }

  update(item) {
    this.body.classList.toggle("streaming", !item.done);
    if (this.label) this.label.textContent = item.done ? texts.reasoning : texts.reasoningNow;
  }

  // blocks replaces the blocks from one on. The elements that stay aren't touched.
  blocks({ from, html }) {
    while (this.body.children.length > from + html.length) this.body.lastChild.remove();
    html.forEach((text, i) => {
      let block = this.body.children[from + i];
      if (!block) this.body.append((block = h("div", { class: "block" })));
      const wraps = [...block.querySelectorAll(".code")].map((c) => c.classList.contains("wrap"));
      finish(trusted(block, text), wraps);
    });
  }

  get text() {
    return this.body.innerText;
  }
}

// finish adds what the server's HTML doesn't have: heads of code blocks, and areas that scroll.
function finish(block, wraps) {
  for (const table of block.querySelectorAll("table")) {
    const area = h("div", { class: "table", role: "group", tabIndex: 0, "aria-label": texts.table });
    table.replaceWith(area);
    area.append(table);
  }
  block.querySelectorAll("pre").forEach((pre, i) => {
    const code = pre.querySelector("code");
    const language = /language-(\S+)/.exec(code?.className ?? "")?.[1] ?? texts.code;
    const box = h("div", { class: wraps[i] ? "code wrap" : "code" });
    pre.replaceWith(box);
    pre.tabIndex = 0;
    const head = h("div", {}, h("button", { type: "button", "data-action": "wrap" }, texts.wrap), h("button", { type: "button", "data-action": "copy" }, texts.copy));
    add(box, h("div", { class: "head" }, h("span", {}, language), head), pre);
  });
}

// onCode handles the buttons of code blocks, for all of them at once.
export function onCode(event, say) {
  const action = event.target.closest?.("[data-action]");
  const box = action?.closest(".code");
  if (!box) return;
  if (action.dataset.action === "wrap") box.classList.toggle("wrap");
  else copy(box.querySelector("pre").innerText, say);
}

export async function copy(text, say) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { value: text, class: "hidden-visually" }); // without https there is no clipboard
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(texts.copied);
}

export function source(item) {
  const safe = /^https?:\/\//i.test(item.url ?? "");
  const words = [icon("link", 14), h("span", {}, item.text || item.url || texts.source)];
  return safe ? h("a", { class: "source", href: item.url, target: "_blank", rel: "noopener noreferrer nofollow" }, words) : h("span", { class: "source" }, words);
}

// quiet are the notices about what the user did, or what needs nothing from them. For the ends of runs the server says so.
const quiet = ["compacted", "context_reset", "mode", "stopped", "undone", "notice"];

// effects lists what calls have done, with why it stays.
export function effects(list) {
  if (!list.length) return null;
  return h("ul", { class: "effects" }, list.map((c) => h("li", {}, h("b", {}, c.title), c.why ? h("span", { class: "explain" }, sentence(c.why)) : null)));
}

// notice says what has happened. last is whether no work came after it: then it offers to go on.
export function notice(item, { last, retry, resume }) {
  const known = texts.notice[item.code];
  const words = typeof known === "function" ? known(item.text ?? "") : (known ?? (item.text || texts.notice.failed));
  if (item.code === "undone") {
    const stays = item.stays ?? [];
    return h("div", { class: "notice undone" }, icon("undo"), h("span", {}, stays.length > 0 ? texts.undoing.partly : texts.undoing.all), effects(stays));
  }
  if (item.quiet || quiet.includes(item.code)) {
    const go = last && (item.code === "host" || item.code === "drained") ? button(texts.continue, resume) : null;
    return h("div", { class: "notice" }, icon("info"), h("span", {}, words), go);
  }
  return h("div", { class: "notice danger", role: "note" }, icon("warning", 18), h("span", {}, words), last && retry ? button(item.goOn ? texts.goOn : texts.again, retry) : null);
}

