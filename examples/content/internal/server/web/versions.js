// The texts that an article has had: who made them and when; any two can be compared, and each can be restored.

import { button, h } from "/agent/page/dom.js";
import { count, exactly, when } from "/agent/page/format.js";
import { api } from "./api.js";
import { field, select } from "./cards.js";
import { difference } from "./diff.js";
import { toolName } from "./words.js";

const authors = { user: "you", restore: "an undo", proposal: "you, by accepting a proposal", version: "you, by restoring a version", system: "the assistant" };
const author = (v) => authors[v.author] ?? `step: ${toolName(v.author).toLowerCase()}`;

// versions returns the list with the comparison above it.
export function versions(page) {
  const all = page.versions;
  if (all.length === 0) return h("p", { class: "muted" }, "There are no versions yet. Each step of the assistant makes one, and so does each time that you write.");
  const text = (number) => api("GET", `/api/artifacts/${page.id}/versions/${number}`);
  const options = all.map((v, i) => [v.number, `Version ${count(v.number)}${i === 0 ? " (now)" : ""}`]);
  const from = select(options, all[1]?.number ?? all[0].number), to = select(options, all[0].number), result = h("div", { "data-testid": "compared" });
  const compared = ([a, b]) => [a.title === b.title ? "" : h("p", {}, "The title changes from ", h("b", {}, a.title), " to ", h("b", {}, b.title), "."), difference(a.content ?? "", b.content ?? "", `What changes from version ${from.value} to version ${to.value}`)];
  const show = () => Promise.all([text(from.value), text(to.value)]).then(compared, (problem) => [h("p", { class: "bad" }, problem.message)]).then((parts) => result.replaceChildren(...parts));
  for (const choice of [from, to]) choice.addEventListener("change", show);
  const pick = (v, before) => {
    from.value = before.number;
    to.value = v.number;
    show().then(() => from.scrollIntoView({ block: "nearest" }));
  };
  return h("div", { class: "stack" },
    all.length < 2 ? null : h("div", { class: "pair" }, field("Compare", from), field("with", to)), result,
    h("ol", { class: "past", "data-testid": "versions" }, all.map((v, i) => h("li", {},
      h("div", { class: "what" }, h("b", {}, `Version ${count(v.number)}`), i === 0 ? h("span", { class: "badge" }, "now") : null, h("span", { class: "muted small" }, `by ${author(v)} · `, h("time", { title: when(new Date(v.at)) }, exactly(new Date(v.at))), ` · ${count(v.length)} characters`)),
      h("div", { class: "row" }, all[i + 1] ? button("What changed", () => pick(v, all[i + 1])) : null, i === 0 || page.working() || page.a.status === "archived" ? null : button("Restore", () => page.restore(v.number), "", { "aria-label": `Restore version ${v.number}` }))))));
}
