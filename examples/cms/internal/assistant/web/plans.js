// Several plans to choose from: their ranks, reasons and steps, in the card in which the agent asks.

import { Approval } from "../page/approval.js";
import { button, h, icon } from "../page/dom.js";
import { object, parsed } from "../page/format.js";
import { steps } from "../page/plan.js";
import { inputOf } from "./subject.js";
import { words } from "./words.js";

// offered returns the plans of a question; null if it is about something else.
function offered(pause) {
  const plans = parsed(pause.input ?? "")?.plans;
  return Array.isArray(plans) && plans[0]?.plan ? plans : null;
}

// The reason of such a question lists the plans in a text, for terminals.
const { get } = Object.getOwnPropertyDescriptor(Approval.prototype, "title");
Object.defineProperty(Approval.prototype, "title", {
  get() {
    return this.item.pause && offered(this.item.pause) ? this.item.pause.title : get.call(this);
  },
});

// showPlans puts the plans into the cards of open questions about them.
export function showPlans(page) {
  for (const item of page.model.asked()) {
    const view = page.conversation.views.get(item.id);
    if (!view?.shown || view.plansIn === view.area) continue;
    view.plansIn = view.area;
    if (item.pause.plan) showSteps(view, item.pause);
    const plans = offered(item.pause);
    if (!plans) continue;
    const decide = (decision) => (event) => event.detail > 1 || view.decide(decision);
    view.facts.replaceChildren(h("p", { class: "muted" }, words.plansLead), h("ol", { class: "alternatives" }, plans.map((p, i) => alternative(p, i, decide))));
    view.area.replaceChildren(h("div", { class: "buttons" }, button(words.noPlan, decide({ decision: "reject" })), button(words.noPlanWhy, () => view.reject(), "quiet")));
    if (!page.settled) continue;
    page.follower.following = false; // who reads begins with the first
    requestAnimationFrame(() => view.element.scrollIntoView({ block: "start" }));
  }
}

// step is how a node of a plan is shown.
const step = (n) => ({ work: n.tool, id: object(inputOf(n)), text: n.why });

// showSteps says in the card of a plan what each step is about, and that its steps can be undone, which a call can't that only submits it.
function showSteps(view, { input, plan }) {
  const nodes = parsed(input ?? "")?.nodes;
  if (!nodes) return;
  view.facts.replaceChildren(plan.why ? h("p", {}, plan.why) : "", steps({ status: "proposed", steps: nodes.map(step) }));
  const last = view.element.querySelector(".notes li:last-child");
  if (last) last.textContent = words.planUndo;
}

// nameSteps says in plans in progress what each step is about, from the calls that have submitted them.
export function nameSteps({ model, conversation }) {
  for (const item of model.items.values()) {
    if (item.kind !== "plan" || item.named === item.plan) continue;
    item.named = item.plan;
    const nodes = nodesOf(model, item.plan.title);
    for (const s of item.plan.steps) {
      const node = nodes.find((n) => n.id === s.id);
      if (node) s.id = object(inputOf(node));
    }
    if (nodes.length > 0) conversation.views.get(item.id)?.update(item);
  }
}

// nodesOf returns the steps of the newest plan of a title.
function nodesOf(model, title) {
  for (const call of [...model.items.values()].reverse()) {
    const input = call.kind === "call" && call.name?.startsWith("plan.") ? parsed(call.input ?? "") : null;
    const plan = [input, ...(input?.plans ?? [])].find((p) => p?.title === title && p.nodes);
    if (plan) return plan.nodes;
  }
  return [];
}

function alternative({ plan, score, missing, risky, recommended }, i, decide) {
  const list = steps({ status: "proposed", steps: plan.nodes.map(step) });
  const reasons = [...(missing ?? []).map((m) => ["warning", words.planLacks(m.replace(/^step \S+ \([^)]*\): /, ""))]), risky?.length ? ["warning", words.planRisks(risky.length)] : null, missing?.length || risky?.length ? null : ["check", words.planFits]].filter(Boolean);
  return h(
    "li",
    { class: recommended ? "alternative best" : "alternative" },
    h("div", { class: "plan-head" }, h("span", { class: "rank" }, String(i + 1)), h("h3", {}, plan.title), recommended ? h("span", { class: "chip live" }, words.recommended) : null, h("span", { class: "muted", title: words.scoreTitle }, words.score(score))),
    plan.why ? h("p", {}, plan.why) : null,
    h("ul", { class: "reasons" }, reasons.map(([sign, text]) => h("li", { class: sign }, icon(sign, 14), text))),
    h("details", { open: i === 0 }, h("summary", {}, words.stepsOf(plan.nodes.length)), list),
    missing?.length ? null : button(words.choosePlan, decide({ decision: "answer", value: JSON.stringify(plan.title) }), recommended ? "primary" : "", { "aria-label": words.choosePlanNamed(plan.title) }),
  );
}
