// How far the assistant is with an article.

import { button, h, icon, iconButton } from "/agent/page/dom.js";
import { api } from "./api.js";
import { nextLabel } from "./head.js";
import { toolName, words } from "./words.js";

const names = { topicResearch: "research", skeletonCreator: "skeleton", contentWriter: "writing", humanizer: "humanizing", visualsCreator: "creating_visuals" };
const cap = (text) => text[0].toUpperCase() + text.slice(1);

// progress shows the steps while they run, and after that until the page is left.
export function progress(page) {
  const { a } = page, p = a.pipeline, over = !page.working();
  if (!p || (over && (p.state !== "completed" || !page.pressed))) return null;
  if (over) {
    if (page.editor || a.proposal || ["published", "archived"].includes(a.status)) return null;
    return h("section", { class: "panel progress notice-line", "data-testid": "writing-progress", "aria-label": "Progress" }, icon("check", 18), h("h2", {}, "Done"), h("p", { class: "muted small over" }, cap(new Intl.ListFormat("en").format(p.tools.map((t) => words.results[t] ?? t))), a.status === "ready" ? h("span", { "data-testid": "status-ready" }, ". It is ready: read it through.") : null),
      iconButton("close", "Close this message", () => ((page.pressed = false), page.show())));
  }
  const steps = p.tools.map((name) => ({ name, done: (p.done ?? []).includes(name) })), current = steps.find((s) => !s.done), done = steps.filter((s) => s.done).length;
  return h("section", { class: "panel progress", "data-testid": "writing-progress", "aria-label": "Progress" },
    h("div", { class: "row between" }, h("h2", {}, steps.length > 1 ? "Creating content" : toolName(p.tools[0])), button("Stop", () => page.tried(() => api("POST", "/api/content-agent/cancel", { artifactId: a.id })))),
    h("progress", { max: steps.length, value: done + (p.progress?.done ?? 0), "aria-label": `${done} of ${steps.length} steps` }),
    h("ol", { "aria-live": "polite" }, steps.map((s) => {
      const state = s.done ? "done" : s === current ? "current" : "next";
      const now = (p.progress?.tool === s.name && (p.progress.text ?? "").split("\n")[0].split(/: (.*)/)[1]) || words.tools[s.name]?.[1]; // "Text: section 2 of 6"
      return h("li", { class: state, "data-testid": `status-${names[s.name] ?? s.name}` }, h("span", { class: "sign" }, s.done ? icon("check", 16) : h("span", { class: `dot ${s === current ? "running" : ""}` })),
        h("div", {}, h("span", {}, toolName(s.name)), h("span", { class: "hidden-visually" }, { done: ": done", current: ": in progress", next: ": comes later" }[state]), s === current ? h("p", { class: "muted small" }, now) : null));
    })));
}

// stopped says what is done and what isn't after somebody has stopped the assistant; null if nobody has. The button that continues is in the head.
export function stopped(page) {
  const p = page.a.pipeline;
  if (page.problem || p?.state !== "stopped" || ["ready", "published", "archived"].includes(page.a.status)) return null;
  const is = (tool) => `${words.results[tool] ?? tool} ${tool === "visualsCreator" ? "are" : "is"}`, done = p.tools.filter((t) => (p.done ?? []).includes(t)), open = p.tools.find((t) => !done.includes(t));
  if (!open) return null;
  return h("section", { class: "panel notice-line", "data-testid": "stopped", role: "status" }, icon("pause", 18), h("p", {}, `Stopped. ${done.length ? `${cap(is(done.at(-1)))} done; ${is(open)}n’t.` : `${cap(is(open))}n’t done.`} Nothing is lost: “${nextLabel(page)}” goes on there.`));
}
