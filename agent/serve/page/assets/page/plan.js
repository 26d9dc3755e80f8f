// A plan: how far it is, and its steps.

import { button, h, icon, iconButton, remembered } from "./dom.js";
import { naming, oneLine } from "./format.js";
import { texts } from "./texts.js";

// looks says how the status of a step looks: the class, and the icon. Its word is in texts.
const looks = {
  pending: ["idle", null],
  running: ["info", "chevron"],
  reviewing: ["info", "search"],
  asking: ["warning", "question"],
  done: ["success", "check"],
  waived: ["success", "check"],
  failed: ["danger", "cross"],
  skipped: ["idle", "minus"],
};

// steps makes the list of the steps of a plan.
export function steps(plan) {
  return h("ol", { class: "steps" }, plan.steps.map((s) => {
    const [look, sign] = looks[s.status] ?? looks.pending;
    const word = plan.status === "proposed" ? "" : texts.plan.step[s.status] ?? s.status;
    return h(
      "li",
      { class: look },
      h("span", { class: "sign" }, s.status === "running" ? h("span", { class: "spinner" }) : sign ? icon(sign, 14) : h("span", { class: "dot" })),
      h("span", { class: "work" }, s.title || naming.tool(s.work), " ", h("code", {}, s.id)),
      h("span", { class: "word" }, word),
      s.text ? h("span", { class: "said" }, s.status === "skipped" ? texts.plan.because(s.text) : oneLine(s.text, 200)) : null,
    );
  }));
}

// A Plan folds to one line, and closes to a button. Both is remembered.
export class Plan {
  constructor(item) {
    const run = item.plan.run;
    this.key = `plan.${run}`;
    this.summary = h("summary", {});
    this.body = h("div", { class: "inside" });
    this.details = h("details", { open: !remembered.get(this.key) }, this.summary, this.body);
    this.details.addEventListener("toggle", () => this.closed || remembered.set(this.key, this.details.open ? "" : "folded"));
    this.panel = h("section", { class: "plan", "aria-labelledby": `plan-${run}` }, this.details, iconButton("close", texts.plan.close, () => this.close(true)));
    this.back = button("", () => this.close(false), "quiet");
    this.element = h("div", {});
    this.closed = remembered.get(this.key) === "closed";
    this.update(item);
    this.show();
  }

  close(yes) {
    this.closed = yes;
    if (!yes) this.details.open = true;
    remembered.set(this.key, yes ? "closed" : "");
    this.show();
    (yes ? this.back : this.summary).focus({ preventScroll: true });
  }

  show() {
    this.element.replaceChildren(this.closed ? this.back : this.panel);
  }

  update({ plan }) {
    const total = plan.steps.length;
    const words = `${texts.plan.status[plan.status] ?? plan.status} · ${texts.plan.progress(plan.done, total)}`;
    this.back.textContent = texts.plan.show(plan.title, words);
    this.summary.replaceChildren(h("span", { class: "chevron" }, icon("chevron")), h("h2", { id: `plan-${plan.run}` }, plan.title), h("span", { class: "outcome" }, words));
    this.body.replaceChildren(h("progress", { max: total, value: plan.done, "aria-label": texts.plan.progress(plan.done, total) }), steps(plan), plan.reason ? h("p", { class: "explain" }, plan.reason) : "");
  }
}
