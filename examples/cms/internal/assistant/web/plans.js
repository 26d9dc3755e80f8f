// Several plans to choose from: their ranks, reasons and steps, in the card in which the agent asks.

import { Approval } from "../page/approval.js";
import { button, h, icon } from "../page/dom.js";
import { naming, object, parsed } from "../page/format.js";
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
    const last = item.pause.plan ? view.element.querySelector(".notes li:last-child") : null;
    if (last) last.textContent = words.planUndo; // a call that only submits a plan can't be undone, but the steps can
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

// titleOf says what a step does, and which sections a page gets.
function titleOf(node) {
  const input = inputOf(node), sections = (parsed(input)?.sections ?? []).map((s) => String(s?.section ?? "")).filter(Boolean);
  return [naming.tool(node.tool), object(input).split(" · ")[0], sections.length ? words.withSections(sections) : ""].filter(Boolean).join(" ");
}

function alternative({ plan, missing, misses, risky, recommended }, i, decide) {
  const list = steps({ status: "proposed", steps: plan.nodes.map((n) => ({ title: titleOf(n), id: "", text: n.why })) });
  const warnings = [...(missing ?? []).map((m) => words.planLacks(naming.problem(m.replace(/^step \S+ \([^)]*\): /, "")))), ...(misses ?? []).map(words.planMisses), ...(risky?.length ? [words.planRisks(risky.length)] : [])];
  const reasons = warnings.length ? warnings.map((text) => ["warning", text]) : [["check", words.planFits]];
  return h(
    "li",
    { class: recommended ? "alternative best" : "alternative" },
    h("div", { class: "plan-head" }, h("span", { class: "rank" }, String(i + 1)), h("h3", {}, plan.title), recommended ? h("span", { class: "chip live" }, words.recommended) : null),
    plan.why ? h("p", {}, plan.why) : null,
    h("ul", { class: "reasons" }, reasons.map(([sign, text]) => h("li", { class: sign }, icon(sign, 14), text))),
    h("details", { open: i === 0 }, h("summary", {}, words.stepsOf(plan.nodes.length)), list),
    missing?.length ? null : button(words.choosePlan, decide({ decision: "answer", value: JSON.stringify(plan.title) }), recommended ? "primary" : "", { "aria-label": words.choosePlanNamed(plan.title) }),
  );
}
