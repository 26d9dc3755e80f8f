// The log of a session: what matters of what has happened, as a list that can be searched, filtered, copied and exported. It is read while it is shown.

import { button, h, icon, iconButton } from "../page/dom.js";
import { duration, exactly, naming, oneLine } from "../page/format.js";
import { copy } from "../page/messages.js";
import { words } from "./words.js";

const kinds = {
  messages: ["user-message", "text", "text-end"],
  calls: ["tool-call", "tool-input-available", "tool-result", "tool-retry", "tool-fallback", "breaker-open"],
  decisions: ["approval_required", "approval_decided"],
  plans: ["plans-generated", "plan-selected", "plan-failed", "plan", "preflight_result"],
  problems: ["error", "error-escalation"],
  more: ["reasoning", "reasoning-end", "system-prompt", "mode_switch", "phase-transition", "complexity-detected", "reflection-complete", "compacted", "finish", "validation_failed"],
};
const kindOf = new Map(Object.entries(kinds).flatMap(([kind, types]) => types.map((t) => [t, kind])));
const signs = { messages: "send", calls: "chevron", decisions: "question", plans: "file", problems: "warning", more: "info" };
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

export class Log {
  // say(text) shows a short message.
  constructor(say) {
    this.say = say;
    this.query = h("input", { class: "input", type: "search", placeholder: words.searchLog, "aria-label": words.searchLog, oninput: () => this.filter() });
    this.kind = h("select", { class: "input", "aria-label": words.filter, onchange: () => this.filter() }, [["", words.matters], ...Object.keys(kinds).map((k) => [k, words.kinds[k]])].map(([value, label]) => h("option", { value }, label)));
    this.list = h("div", { class: "entries" });
    this.none = h("p", { class: "none muted" });
    this.scroller = h("div", { class: "log-scroller", tabIndex: 0, role: "region", "aria-label": words.tabs.log }, this.none, this.list);
    this.parts = [h("h2", { class: "hidden-visually" }, words.logTitle), h("div", { class: "log-tools" }, h("div", { class: "search" }, icon("search"), this.query), this.kind, iconButton("download", words.export, () => this.export())), this.scroller];
    this.forget("");
  }

  forget(session) {
    Object.assign(this, { session, after: "", events: [], entries: [], calls: new Map() });
    this.list.replaceChildren();
    this.filter();
  }

  // show reads the events of a session from where the list ends; without one, it stops reading.
  show(session, open) {
    if (session !== this.session) {
      this.close();
      this.forget(session);
    }
    if (!open || !session) this.close();
    else if (!this.source) this.connect();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  connect() {
    const source = (this.source = new EventSource(`log?${new URLSearchParams({ session: this.session, after: this.after })}`));
    source.onmessage = (message) => {
      if (message.lastEventId) this.after = message.lastEventId;
      this.add(JSON.parse(message.data));
    };
    source.onerror = () => {
      source.close(); // it begins after the last one that was read
      if (source === this.source) this.timer = setTimeout(() => this.connect(), 1500);
    };
  }

  add(event) {
    this.events.push(event);
    const kind = kindOf.get(event.type);
    if (!kind) return;
    const part = event.type === "plan" ? `${event.runId} ${event.title}` : event.toolCallId; // the steps of a plan are one entry, as a call and its result
    const known = ["tool-result", "plan"].includes(event.type) && this.calls.get(part);
    const entry = known || { kind, events: [], element: h("details", {}) };
    entry.events.push(event);
    if (known) return this.draw(entry);
    if (part && (kind === "calls" || event.type === "plan")) this.calls.set(part, entry);
    this.entries.push(entry);
    this.list.append(entry.element);
    entry.element.addEventListener("toggle", () => this.unfold(entry));
    this.draw(entry);
    entry.element.hidden = !this.wanted(entry);
    this.counted();
    this.due ??= requestAnimationFrame(() => ((this.due = null), (this.scroller.scrollTop = this.scroller.scrollHeight)));
  }

  draw(entry) {
    const [first] = entry.events;
    const last = entry.events.at(-1);
    const failed = last.success === false || entry.kind === "problems";
    entry.text = null;
    entry.element.className = `entry k-${entry.kind} ${failed ? "failed" : ""}`;
    entry.element.replaceChildren(
      h(
        "summary",
        { title: first.time ? exactly(new Date(first.time)) : "" },
        icon(failed ? "cross" : last.success ? "check" : signs[entry.kind], 14),
        h("span", { class: "kind" }, words.types[first.type] ?? words.kinds[entry.kind]),
        h("span", { class: "title" }, oneLine(titleOf(first, last), 240)),
        h("span", { class: "muted ms" }, last.ms > 0 ? duration(last.ms) : first.time ? clock.format(new Date(first.time)) : ""),
      ),
    );
    if (entry.element.open) this.unfold(entry);
  }

  unfold(entry) {
    entry.element.querySelector(".entry-body")?.remove();
    if (!entry.element.open) return;
    const json = JSON.stringify(entry.events.length > 1 ? entry.events : entry.events[0], null, 2);
    entry.element.append(h("div", { class: "entry-body" }, button([icon("copy", 14), words.copy], () => copy(json, this.say), "quiet"), h("pre", { class: "data", tabIndex: 0 }, json)));
  }

  wanted(entry) {
    if (this.kind.value ? entry.kind !== this.kind.value : entry.kind === "more") return false;
    const query = this.query.value.trim().toLocaleLowerCase();
    entry.text ??= JSON.stringify(entry.events).toLocaleLowerCase();
    return !query || entry.text.includes(query);
  }

  filter() {
    for (const entry of this.entries) entry.element.hidden = !this.wanted(entry);
    this.counted();
  }

  counted() {
    this.none.hidden = this.entries.some((e) => !e.element.hidden);
    this.none.textContent = this.entries.length ? words.noMatch : words.noEntries;
  }

  export() {
    const file = new Blob([JSON.stringify({ session: this.session, events: this.events }, null, 2)], { type: "application/json" });
    const link = h("a", { href: URL.createObjectURL(file), download: `session-${this.session || "empty"}.json` });
    link.click();
    URL.revokeObjectURL(link.href);
    this.say(words.exported);
  }
}

function titleOf(first, last) {
  const own = (first.type === "plan" ? null : first.title) ?? words.titles[first.type]?.(first.type === "plan" ? last : first) ?? first.text ?? first.message ?? first.type;
  return last !== first && last.success === false ? `${own}: ${typeof last.output === "string" ? naming.problem(last.output) : last.status}` : own;
}
