// A tool call: one line that unfolds to its input and its result.

import { h, icon } from "./dom.js";
import { bytes, duration, naming, object, oneLine } from "./format.js";
import { files, foldable } from "./messages.js";
import { texts } from "./texts.js";

// looks says how a status looks: the class, and the icon. Its word is in texts.
const looks = {
  writing: ["idle", null],
  ready: ["idle", "clock"],
  running: ["idle", null],
  suspended: ["warning", "question"],
  ok: ["success", "check"],
  answered: ["success", "check"],
  failed: ["danger", "cross"],
  timed_out: ["danger", "clock"],
  unavailable: ["danger", "cross"],
  invalid: ["danger", "cross"],
  unknown: ["danger", "cross"],
  unverified: ["warning", "warning"],
  in_doubt: ["warning", "question"],
  denied: ["idle", "minus"],
  rejected: ["idle", "minus"],
  not_run: ["idle", "minus"],
  canceled: ["idle", "minus"],
};

export class Call {
  constructor(item, model) {
    this.model = model;
    this.summary = h("summary", {});
    this.body = h("div", { class: "body" });
    this.element = h("details", { class: "call" }, this.summary, this.body);
    this.element.addEventListener("toggle", () => this.unfold());
    this.update(item);
  }

  update(item) {
    this.item = item;
    if (item.result) naming.learn(item.result);
    const status = item.undone ? "ok" : this.waits() ? "suspended" : item.exit ? "failed" : (item.status ?? "ready");
    const [look, sign] = looks[status] ?? looks.failed;
    this.look = look;
    this.element.className = `call ${look}`;
    this.element.hidden = status === "suspended"; // its card says it
    this.summary.replaceChildren(
      h("span", { class: "sign" }, sign ? icon(item.undone ? "undo" : sign) : h("span", { class: "spinner" })),
      h("span", { class: "verb" }, naming.tool(item.name ?? "")),
      h("span", { class: "object" }, item.progress?.text || object(item.input)),
      h("span", { class: "outcome" }, outcome(item, status)),
      h("span", { class: "chevron" }, icon("chevron")),
      item.last ? h("span", { class: "said last" }, item.last) : look === "danger" && item.result ? h("span", { class: "said" }, oneLine(naming.problem(item.result), 200)) : "",
    );
    if (this.element.open) this.unfold();
  }

  waits() {
    return !["ok", "failed"].includes(this.item.status) && this.model.suspends(this.item);
  }

  // unfold makes the body when it is seen.
  unfold() {
    if (!this.element.open) return;
    const item = this.item;
    const explain = texts.explain[item.status];
    this.body.replaceChildren(
      ...[
        item.progress?.done ? h("progress", { max: 1, value: item.progress.done, "aria-label": texts.call.running }) : null,
        explain ? h("p", { class: "explain" }, explain) : null,
        h("div", {}, h("span", { class: "field-name" }, texts.input), data(item.input || texts.noInput)),
        item.result ? h("div", {}, h("span", { class: "field-name" }, texts.result), data(item.result), item.cut ? h("p", { class: "explain" }, texts.cut(bytes(item.cut))) : null) : null,
        files(item.files),
      ].filter(Boolean),
    );
  }
}

// A CallGroup holds the calls of a step. Several of them are one line that opens.
export class CallGroup {
  constructor() {
    this.summary = h("summary", { hidden: true });
    this.list = h("div", {});
    this.element = h("details", { class: "calls", open: true }, this.summary, this.list);
    this.calls = new Set();
  }

  // refresh shows how the calls stand.
  refresh() {
    const calls = [...this.calls].filter((c) => c.element.isConnected && !c.element.hidden);
    const one = calls.length < 2;
    if (one === this.summary.hidden && one) return;
    if (one !== this.summary.hidden) this.element.open = one;
    this.summary.hidden = one;
    if (one) return;
    const has = (look) => calls.filter((c) => c.look === look).length;
    const over = calls.filter((c) => c.item.status && !["writing", "ready", "running"].includes(c.item.status)).length;
    const failed = has("danger");
    const skipped = over - failed - has("warning") - has("success");
    const look = failed > 0 ? "danger" : has("warning") > 0 ? "warning" : over < calls.length ? "idle" : has("success") > 0 ? "success" : "idle";
    const sign = over < calls.length ? h("span", { class: "spinner" }) : icon({ danger: "cross", warning: "warning", success: "check" }[look] ?? "minus");
    const verbs = [...new Set(calls.map((c) => naming.tool(c.item.name ?? "")))].join(", ");
    const undone = calls.filter((c) => c.item.undone).length;
    const state = JSON.stringify([look, verbs, calls.length, over, failed, skipped, undone]);
    if (state === this.state) return;
    this.state = state;
    this.summary.className = `line ${look}`;
    this.summary.replaceChildren(h("span", { class: "sign" }, sign), h("span", { class: "verb" }, verbs), h("span", { class: "object" }), h("span", { class: "outcome" }, texts.callsOf(calls.length, over, failed, skipped, undone)), h("span", { class: "chevron" }, icon("chevron")));
  }
}

function outcome(item, status) {
  const words = [];
  if (item.wait) words.push(texts.waiting.tool);
  else if (item.undone) words.push(texts.call.undone);
  else words.push(item.exit ?? texts.call[status] ?? status);
  if (item.progress?.done) words.push(new Intl.NumberFormat(undefined, { style: "percent" }).format(item.progress.done));
  if (item.attempts > 1) words.push(texts.attempts(item.attempts));
  if (item.took > 0) words.push(duration(item.took));
  return words.join(" · ");
}

// data shows JSON or text.
export function data(text) {
  const pre = h("pre", { class: "data", tabIndex: 0 }, text);
  return foldable(pre, text.split("\n").length > 40);
}
