// The plan of the work, above the conversation: its steps with their progress, what a check of it has found, and other plans beside it.

import { newID } from "../page/api.js";
import { button, h, icon } from "../page/dom.js";
import { object } from "../page/format.js";
import { steps } from "../page/plan.js";
import { words } from "./words.js";

export class Plans {
  // carryOut(request) does what was only planned.
  constructor(carryOut) {
    this.carryOut = carryOut;
    this.head = h("summary", {});
    this.body = h("div", { class: "plans-body" });
    this.element = h("details", { class: "plans", hidden: true }, this.head, this.body);
    this.clear();
  }

  clear() {
    this.plans = [];
    this.calls = new Map();
    this.touched = false;
    this.show();
  }

  event(e) {
    const reads = readers[e.type];
    if (!reads) return;
    reads.call(this, e);
    this.show();
  }

  get plan() {
    return this.plans[this.selected];
  }

  // choose selects a plan by its name.
  choose(name) {
    const i = this.plans.findIndex((p) => p.name === name || p.id === name);
    if (i >= 0) this.selected = i;
    return this.plans[i];
  }

  // step changes the first step of a tool that has one of some states.
  step(tool, states, status, text) {
    const step = this.plan?.steps.find((s) => s.tool === tool && states.includes(s.status));
    if (!step) return;
    this.touched = true;
    Object.assign(step, { status, text: text ?? step.text });
  }

  show() {
    const { plan } = this;
    this.element.hidden = !plan;
    if (!plan) return;
    const done = plan.steps.filter((s) => s.status === "done").length;
    const ended = plan.failed !== undefined || done === plan.steps.length;
    const state = plan.failed ? words.planFailed(plan.failed) : plan.issues?.length ? words.planProblems(plan.issues.length) : done > 0 || this.touched ? words.planDone(done, plan.steps.length) : words.planFits(plan.steps.length);
    const bad = Boolean(plan.failed || plan.issues?.length);
    this.head.replaceChildren(
      h("span", { class: `sign ${bad ? "bad" : ended ? "good" : ""}` }, icon(bad ? "warning" : ended ? "check" : "file", 16)),
      h("b", {}, plan.name || words.plan),
      h("span", { class: "muted state" }, [plan.backup ? words.planBackup : "", state].filter(Boolean).join(", ")),
      this.touched && !ended ? h("progress", { max: plan.steps.length, value: done, "aria-label": words.planDone(done, plan.steps.length) }) : "",
      h("span", { class: "more" }, icon("chevron", 14)),
    );
    const tabs = this.plans.length > 1 && h("div", { class: "plan-tabs", role: "group", "aria-label": words.plans }, this.plans.map((p, i) => button([h("span", {}, p.name), p.score === undefined ? "" : h("span", { class: "muted", title: words.scoreTitle }, words.score(p.score)), p.failed ? icon("cross", 14) : ""], () => ((this.selected = i), this.show()), "quiet", { "aria-pressed": String(p === plan) })));
    const list = steps({ status: this.touched || ended ? "running" : "proposed", steps: plan.steps.map((s) => ({ work: s.tool, id: object(JSON.stringify(s.input ?? {})), status: s.status, text: s.text })) });
    const notes = (name, texts) => texts?.length > 0 && h("ul", { class: `plan-notes ${name}` }, texts.map((t) => h("li", {}, t)));
    const go = plan.request && !bad && !this.touched ? h("div", { class: "buttons" }, button(words.carryOut, () => this.carryOut(plan.request), "primary")) : "";
    this.body.replaceChildren(...[tabs, list, notes("issues", plan.issues), notes("suggestions", plan.suggestions), notes("risks", plan.risks?.map((r) => `${words.risks}: ${r}`)), go].filter(Boolean));
  }
}

const step = (s) => ({ tool: s.tool, input: s.args ?? s.input, text: s.rationale, status: "pending" });

// readers say what the events of a session mean for the plan.
const readers = {
  "user-message"(e) {
    const done = !this.plan || this.plan.failed || this.plan.issues?.length || this.touched;
    if (!e.steered && (done || e.mode === "architect")) this.clear();
    if (!e.steered) Object.assign(this, { request: e.text, mode: e.mode });
  },
  mode_switch(e) {
    this.mode = e.to;
  },
  "plans-generated"(e) {
    this.plans = (e.alternatives ?? []).map((p) => ({ ...p, name: p.name ?? p.title, score: p.feasibilityScore ?? p.score, steps: (p.steps ?? []).map(step) }));
    this.selected = 0;
    this.choose(e.selected);
    this.element.open = true;
  },
  "plan-selected"(e) {
    const known = this.choose(e.plan?.name);
    if (known) known.backup = e.plan.isBackup;
  },
  "plan-failed"(e) {
    const failed = this.choose(e.plan?.name ?? e.plan);
    if (failed) failed.failed = e.error;
    this.choose(e.tryingNext);
  },
  // How far a plan is that a person chose.
  plan(e) {
    const known = this.choose(e.title);
    if (!known) return;
    this.touched = true;
    known.steps.forEach((s, i) => Object.assign(s, { status: e.steps[i]?.status ?? s.status, text: e.steps[i]?.text ?? s.text }));
  },
  preflight_result(e) {
    if (this.plans.length > 1 || !this.checked) return;
    const bad = new Set((e.issues ?? []).map((text) => Number(/^operation (\d+)/.exec(text)?.[1])));
    const planned = this.checked.map((s, i) => ({ ...step(s), status: bad.has(i + 1) ? "failed" : "pending" }));
    // A plan may be checked in parts.
    const same = (a) => planned.some((b) => a.tool === b.tool && JSON.stringify(a.input) === JSON.stringify(b.input));
    const before = this.plan && !this.plan.issues?.length && !this.touched ? this.plan.steps.filter((s) => !same(s)) : [];
    this.plans = [{ steps: [...before, ...planned], issues: e.issues, suggestions: e.suggestions, request: e.valid && this.mode === "architect" ? this.request : "" }];
    this.selected = 0;
    this.element.open = true;
  },
  "tool-input-available"(e) {
    this.calls.set(e.toolCallId, e);
    if (e.toolName.endsWith(".validatePlan")) this.checked = e.input?.operations;
    else if (this.mode !== "architect") this.step(e.toolName, ["pending", "failed"], "running");
  },
  "tool-result"(e) {
    if (e.toolName.endsWith(".validatePlan")) {
      if (this.plan && e.output?.suggestions) this.plan.suggestions = e.output.suggestions;
    } else if (this.mode !== "architect") {
      this.step(e.toolName, ["running"], e.success ? "done" : "failed");
    }
  },
  finish() {
    if (this.mode !== "architect" && !this.touched) this.clear();
  },
};

// again sends a request in the mode that changes the site.
export function again(page, strip, request) {
  strip.choose("cms-crud");
  page.composer.send({ text: request, files: [], key: newID() });
}
