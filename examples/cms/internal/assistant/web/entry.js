// An entry of the message history: a line that unfolds to the whole event.

import { button, h, icon } from "../page/dom.js";
import { duration, exactly, naming, object, oneLine } from "../page/format.js";
import { copy } from "../page/messages.js";
import { texts } from "../page/texts.js";
import { words } from "./words.js";

const kindOf = {
  "user-message": "user",
  "system-prompt": "system",
  "reasoning-end": "reasoning",
  "tool-input-available": "call",
  "tool-result": "result",
  validation_failed: "validation",
  mode_switch: "handoff",
  approval_required: "approval",
  approval_decided: "approval",
  "text-delta": "delta",
  "reasoning-delta": "delta",
  "tool-input-delta": "delta",
  "text-end": "answer",
  error: "error",
  "error-escalation": "error",
  metadata: "metadata",
  "step-complete": "metadata",
};

const signs = { user: "send", system: "file", reasoning: "question", call: "chevron", result: "check", validation: "warning", handoff: "link", approval: "clock", delta: "down", answer: "info", event: "minus", error: "cross", metadata: "keyboard" };

// kind returns which of the 13 kinds an event is; nothing for those that only begin something.
export const kind = (event) => (/-start$/.test(event.type) && event.type !== "reflection-start" ? null : (kindOf[event.type] ?? "event"));

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// said is a result in a few words: its message, or the names in it.
function said(output) {
  if (output && typeof output === "object") return output.message ?? output.error?.message ?? named(JSON.stringify(output));
  const text = String(output ?? "");
  return /<data>/.test(text) ? named(text) || words.nothing : text;
}

const named = (json) => [...json.matchAll(/"(?:name|title)":"((?:[^"\\]|\\.)*)"/g)].slice(0, 3).map((m) => m[1]).join(" · ");

function title(event) {
  const own = words.titles[event.type];
  if (own) return own(event) ?? "";
  if (event.type === "tool-input-available") return `${event.toolName}  ${object(JSON.stringify(event.input ?? ""))}`;
  if (event.type === "tool-result") return `${event.toolName}  ${event.success ? "" : `${texts.call[event.status] ?? event.status}: `}${said(event.output)}`;
  return event.text ?? event.message ?? event.delta ?? event.type;
}

export class Entry {
  // log has say(text), only(trace) and select(entry).
  constructor(event, log) {
    this.event = event;
    this.log = log;
    if (event.type === "tool-result") naming.learn(typeof event.output === "string" ? event.output : JSON.stringify(event.output ?? ""));
    this.kind = kind(event);
    this.pieces = 1;
    this.words = h("span", { class: "title" });
    const failed = event.type === "tool-result" && !event.success;
    this.summary = h(
      "summary",
      { onclick: () => log.select(this), title: event.time ? exactly(new Date(event.time)) : "" },
      h("span", { class: "sign" }, icon(failed ? "cross" : signs[this.kind], 14)),
      h("span", { class: "kind" }, words.labels[event.type] ?? words.kinds[this.kind]),
      this.words,
      event.ms > 0 ? h("span", { class: "ms" }, duration(event.ms)) : null,
      this.kind === "user" && event.time ? h("time", { dateTime: event.time }, clock.format(new Date(event.time))) : null,
      h("span", { class: "more" }, icon("chevron", 14)),
    );
    this.body = h("div", { class: "entry-body" });
    this.element = h("details", { class: `entry k-${this.kind}${failed ? " failed" : ""}` }, this.summary, this.body);
    this.element.addEventListener("toggle", () => this.unfold());
    this.show();
  }

  show() {
    const text = oneLine(title(this.event), 160);
    this.words.textContent = text;
    this.text = null;
  }

  // more adds a piece of text that streams.
  more(delta) {
    this.pieces++;
    this.event.delta += delta;
    this.event.pieces = this.pieces;
    this.show();
    if (this.element.open) this.unfold();
  }

  // matches says whether a search finds it. The text of all events is made only when somebody searches.
  matches(query) {
    this.text ??= `${words.kinds[this.kind]} ${JSON.stringify(this.event)}`.toLocaleLowerCase();
    return this.text.includes(query);
  }

  unfold() {
    if (!this.element.open) return;
    const { event, log } = this;
    this.body.replaceChildren(
      h(
        "div",
        { class: "buttons" },
        button([icon("copy", 14), words.copy], () => copy(JSON.stringify(event, null, 2), log.say), "quiet"),
        event.itemId || event.toolCallId ? button(words.inChat, () => log.inChat(this), "quiet") : "",
        event.traceId ? button(words.trace, () => log.only(event.traceId), "quiet") : "",
      ),
      h("pre", { class: "data", tabIndex: 0 }, JSON.stringify(event, null, 2)),
    );
  }
}
