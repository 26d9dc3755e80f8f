// Small parts that several pages use.

import { button, h, icon } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { plain, statusName, words } from "./words.js";

const signs = { draft: "pen", ready: "check", published: "open", archived: "file" };

export function badge(status) {
  return h("span", { class: `badge ${status}`, "data-status": status }, icon(signs[status] ?? "clock", 14), statusName(status));
}

// errorCard says what went wrong, and has a button for each thing that can be done about it.
export function errorCard(problem, run, again) {
  const options = problem.recoveryOptions ?? [];
  const retry = again && !["UNAUTHORIZED", "INVALID_STATUS", "INVALID_INPUT"].includes(problem.category) && !options.some((o) => o.message === "Try again");
  return h("section", { class: "error-card", role: "alert", "data-category": problem.category },
    h("div", { class: "lead" }, icon("warning", 18), h("h2", {}, words.errors[problem.category] ?? words.errors.TOOL_EXECUTION_FAILED)),
    h("p", {}, plain(problem.message), problem.retryAfter ? ` Try again in ${count(problem.retryAfter)} s.` : null),
    problem.traceId ? h("p", { class: "muted small" }, "Trace ", h("code", {}, problem.traceId)) : null,
    options.length || retry ? h("p", { class: "what" }, "What would you like to do?") : null,
    options.length || retry ? h("div", { class: "row" }, options.map((o) => button(plain(o.label), () => run(o.message))), retry ? button("Try again", again) : null) : null);
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
