// A plan: how far it is, and its steps.

import { h, icon } from "./dom.js";
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
      h("span", { class: "work" }, naming.tool(s.work), " ", h("code", {}, s.id)),
      h("span", { class: "word" }, word),
      s.text ? h("span", { class: "said" }, s.status === "skipped" ? texts.plan.because(s.text) : oneLine(s.text, 200)) : null,
    );
  }));
}

export class Plan {
  constructor(item) {
    this.element = h("section", { class: "plan" });
    this.update(item);
  }

  update({ plan }) {
    const total = plan.steps.length;
    const id = `plan-${plan.run}`;
    this.element.setAttribute("aria-labelledby", id);
    this.element.replaceChildren(
      h("div", { class: "lead" }, h("h2", { id }, plan.title), h("span", { class: "outcome" }, texts.plan.status[plan.status] ?? plan.status, " · ", texts.plan.progress(plan.done, total))),
      h("progress", { max: total, value: plan.done, "aria-label": texts.plan.progress(plan.done, total) }),
      steps(plan),
      plan.reason ? h("p", { class: "explain" }, plan.reason) : "",
    );
  }
}
