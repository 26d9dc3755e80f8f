// The message history: everything that has happened in the session, as a list that can be searched, filtered, copied and exported.

import { button, h, icon, iconButton, remembered } from "../page/dom.js";
import { Entry, kind } from "./entry.js";
import { words } from "./words.js";

const hiddenAtFirst = ["delta", "metadata"];

export class Log {
  // app has say(text), event(event, live) and chat(entry), which shows what an entry is about.
  constructor(app) {
    this.app = app;
    this.entries = [];
    const stored = remembered.get("cms.hidden");
    this.hidden = new Set(stored === null ? hiddenAtFirst : stored.split(","));
    this.count = h("span", { class: "count muted" });
    this.query = h("input", { class: "input", type: "search", placeholder: words.search, "aria-label": words.search, oninput: () => this.filter() });
    this.boxes = Object.entries(words.kinds).map(([name, label]) => {
      const input = h("input", { type: "checkbox", checked: !this.hidden.has(name), onchange: () => this.toggle(name, input.checked) });
      return h("label", { class: `kind-box k-${name}` }, input, h("span", { class: "swatch" }), label);
    });
    this.label = h("summary", { class: "button" });
    const all = button(words.all, () => this.all(), "quiet");
    this.menu = h("details", { class: "popover" }, this.label, h("div", { class: "popover-body" }, this.boxes, all));
    this.pause = iconButton("pause", words.pause, () => this.hold(!this.held), { "aria-pressed": "false" });
    this.list = h("div", { class: "entries" });
    this.none = h("p", { class: "none muted" }, words.noEntries);
    this.scroller = h("div", { class: "log-scroller", tabIndex: 0, role: "group", "aria-label": words.log }, this.none, this.list);
    this.scroller.addEventListener("wheel", (e) => e.deltaY < 0 && this.hold(true), { passive: true });
    this.parts = [
      h("header", { class: "area-head" }, h("h2", {}, words.log), this.count, this.pause, iconButton("download", words.export, () => this.export()), iconButton("bin", words.clear, () => this.clear())),
      h("div", { class: "log-tools" }, h("div", { class: "search" }, icon("search"), this.query), this.menu),
      this.scroller,
    ];
    this.filter();
  }

  say = (text) => this.app.say(text);

  // open reads the events of a session from the first.
  open(session) {
    if (session === this.session) return;
    this.close();
    this.session = session;
    this.entries = [];
    this.list.replaceChildren();
    this.prompts = new Set();
    this.streams = new Map();
    this.live = false;
    this.after = "";
    this.filter();
    if (session) this.connect();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  connect() {
    const source = new EventSource(`log?${new URLSearchParams({ session: this.session, after: this.after })}`);
    this.source = source;
    source.onopen = () => setTimeout(() => (this.live = true), 600);
    source.onmessage = (message) => {
      if (message.lastEventId) this.after = message.lastEventId;
      this.add(JSON.parse(message.data));
    };
    source.onerror = () => {
      if (source !== this.source) return;
      source.close();
      this.timer = setTimeout(() => this.connect(), 1500);
    };
  }

  add(event) {
    this.app.event(event, this.live);
    const name = kind(event);
    if (!name) return;
    if (name === "system") {
      const key = `${event.mode} ${event.text}`;
      if (this.prompts.has(key)) return; // each run begins with it
      this.prompts.add(key);
    }
    if (name === "delta") {
      const id = event.itemId ?? event.toolCallId;
      const known = this.streams.get(id);
      if (known) return known.more(event.delta);
      this.streams.set(id, this.append(event));
      return;
    }
    this.append(event);
  }

  append(event) {
    const entry = new Entry(event, this);
    this.entries.push(entry);
    this.list.append(entry.element);
    entry.element.hidden = !this.wanted(entry);
    if (!entry.element.hidden) this.shown++;
    this.counted();
    if (!this.held) this.due ??= requestAnimationFrame(() => ((this.due = null), this.end()));
    return entry;
  }

  end() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  wanted(entry) {
    const query = this.query.value.trim().toLocaleLowerCase();
    return !this.hidden.has(entry.kind) && (!query || entry.matches(query));
  }

  filter() {
    for (const entry of this.entries) entry.element.hidden = !this.wanted(entry);
    this.shown = this.entries.filter((e) => !e.element.hidden).length;
    this.label.textContent = this.hidden.size > 0 ? words.filterCount(this.hidden.size) : words.filter;
    this.counted();
  }

  counted() {
    this.count.textContent = this.entries.length ? words.entries(this.shown, this.entries.length) : "";
    this.none.hidden = this.shown > 0;
    this.none.textContent = this.entries.length ? words.noMatch : words.noEntries;
  }

  toggle(name, shown) {
    if (shown) this.hidden.delete(name);
    else this.hidden.add(name);
    remembered.set("cms.hidden", [...this.hidden].join(",") || "-");
    this.filter();
  }

  all() {
    this.hidden.clear();
    for (const box of this.boxes) box.firstChild.checked = true;
    this.query.value = "";
    remembered.set("cms.hidden", "-");
    this.filter();
  }

  // only shows the entries of one trace.
  only(trace) {
    this.query.value = trace;
    this.filter();
    this.query.focus();
  }

  // hold stops following the end.
  hold(yes) {
    this.held = yes;
    this.pause.setAttribute("aria-pressed", String(yes));
    const label = yes ? words.follow : words.pause;
    this.pause.title = label;
    this.pause.setAttribute("aria-label", label);
    if (!yes) this.end();
  }

  clear() {
    this.entries = [];
    this.streams.clear();
    this.list.replaceChildren();
    this.filter();
    this.say(words.cleared);
  }

  export() {
    const file = new Blob([JSON.stringify({ session: this.session, events: this.entries.map((e) => e.event) }, null, 2)], { type: "application/json" });
    const link = h("a", { href: URL.createObjectURL(file), download: `session-${this.session || "empty"}.json` });
    link.click();
    URL.revokeObjectURL(link.href);
    this.say(words.exported);
  }

  select(entry) {
    this.mark(entry);
    this.app.chat(entry, false);
  }

  inChat(entry) {
    this.app.chat(entry, true);
  }

  mark(entry) {
    this.list.querySelector(".marked")?.classList.remove("marked");
    entry?.element.classList.add("marked");
  }

  // reveal marks the entry that is about something in the chat.
  reveal(id) {
    const entry = this.entries.find((e) => !e.element.hidden && (e.event.itemId === id || e.event.toolCallId === id || e.event.approvalId === id));
    if (!entry) return;
    this.hold(true);
    this.mark(entry);
    entry.element.scrollIntoView({ block: "center" });
  }
}
