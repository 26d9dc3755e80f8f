// Several plans to choose from: their ranks, reasons and steps, in the card in which the agent asks.

import { button, h, icon } from "../page/dom.js";
import { object, parsed } from "../page/format.js";
import { steps } from "../page/plan.js";
import { words } from "./words.js";

// offered returns the plans of a question; null if it is about something else.
function offered(pause) {
  const plans = parsed(pause.input ?? "")?.plans;
  return Array.isArray(plans) && plans[0]?.plan ? plans : null;
}

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
    view.element.querySelector("h2").textContent = item.pause.title;
    view.facts.replaceChildren(h("p", { class: "muted" }, words.plansLead), h("ol", { class: "alternatives" }, plans.map((p, i) => alternative(p, i, decide))));
    view.area.replaceChildren(h("div", { class: "buttons" }, button(words.noPlan, decide({ decision: "reject" })), button(words.noPlanWhy, () => view.reject(), "quiet")));
    if (!page.settled) continue;
    page.follower.following = false; // who reads begins with the first
    requestAnimationFrame(() => view.element.scrollIntoView({ block: "start" }));
  }
}

// step is how a node of a plan is shown.
const step = (n) => ({ work: n.tool, id: object(JSON.stringify(n.input ?? {})), text: n.why });

// showSteps says in the card of a plan what each step is about, and that its steps can be undone, which a call can't that only submits it.
function showSteps(view, { input, plan }) {
  const nodes = parsed(input ?? "")?.nodes;
  if (!nodes) return;
  view.facts.replaceChildren(plan.why ? h("p", {}, plan.why) : "", steps({ status: "proposed", steps: nodes.map(step) }));
  const last = view.element.querySelector(".notes li:last-child");
  if (last) last.textContent = words.planUndo;
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
