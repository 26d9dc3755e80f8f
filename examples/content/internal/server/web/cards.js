// Small parts that several pages use.

import { button, h, icon } from "/agent/page/dom.js";
import { plain, statusName, words } from "./words.js";

const signs = { draft: "", ready: "check", published: "open", archived: "" };

export function badge(status) {
  return h("span", { class: `badge ${status}`, "data-status": status }, signs[status] === "" ? null : icon(signs[status] ?? "clock", 14), statusName(status));
}

// errorCard says what went wrong, and has a button for each thing that can be done about it. A limit says until when, and is silent afterwards.
export function errorCard(problem, run, again) {
  const options = problem.recoveryOptions ?? [];
  const title = words.errors[problem.category] ?? words.errors.TOOL_EXECUTION_FAILED;
  const retry = again && !["UNAUTHORIZED", "ARTIFACT_NOT_FOUND", "INVALID_STATUS", "INVALID_INPUT"].includes(problem.category) && !options.some((o) => o.message === words.again);
  return h("section", { class: "error-card", role: "alert", "data-category": problem.category },
    h("div", { class: "lead" }, icon("warning", 18), h("h2", {}, title)),
    problem.message && problem.message !== `${title}.` ? h("p", {}, plain(problem.message)) : null, countdown(problem.until ?? (problem.retryAfter ? Date.now() + 1000 * problem.retryAfter : 0)),
    problem.traceId ? h("p", { class: "muted small" }, `${words.reference} `, h("code", {}, problem.traceId)) : null,
    options.length || retry ? [h("p", { class: "what" }, words.whatNow), h("div", { class: "row" }, options.map((o) => button(plain(o.label), () => run(o.message))), retry ? button(words.again, again) : null)] : null);
}

// countdown says in how many seconds something can be tried again, and is gone then.
function countdown(until) {
  const el = h("p", { role: "timer" });
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left > 0) return (el.textContent = words.tryIn(left));
    clearInterval(timer);
    el.remove();
    return "";
  };
  const timer = setInterval(tick, 1000);
  return tick() ? el : null;
}

export function meter(label, value, limit, text) {
  const el = h("progress", { max: Math.max(limit, 1), value: Math.min(value, limit), "aria-label": label });
  return h("div", { class: "meter" }, h("div", { class: "row between" }, h("span", {}, label), h("span", { class: "muted" }, text)), el);
}

export function field(label, input, hint) {
  return h("label", { class: "field" }, h("span", { class: "name" }, label), input, hint ? h("span", { class: "muted small" }, hint) : null);
}

export function select(values, current, props = {}) {
  return h("select", { class: "input", ...props }, values.map(([value, label]) => h("option", { value, selected: value === current }, label)));
}

export const typeSelect = (current) => select(Object.entries(words.type), current, { name: "type" });
export const toneSelect = (current) => select(words.tones.map((t) => [t, t[0].toUpperCase() + t.slice(1)]), current, { name: "tone" });

// A panel is a part of a page with a heading.
export function panel(title, ...children) {
  return h("section", { class: "panel" }, h("h2", {}, title), children);
}
