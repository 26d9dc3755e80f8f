// A change of the text that waits to be accepted or rejected.

import { button, h, icon } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { steady } from "/agent/page/steady.js";
import { texts } from "/agent/page/texts.js";
import { api } from "./api.js";
import { countWords, difference } from "./diff.js";

// summary says in one line what a proposal changes.
function summary(p) {
  const target = p.target[0].toUpperCase() + p.target.slice(1), before = countWords(p.old), after = countWords(p.new);
  if (p.old.startsWith("![")) return `${target} becomes another one.`;
  if (p.new === "") return `${target} is taken out: ${count(before)} words.`;
  const how = after < before ? "becomes shorter" : after > before ? "becomes longer" : "changes";
  return `${target} ${how}: ${count(before)} → ${count(after)} words.`;
}

// request returns the request that leads to a proposal.
function request(p) {
  if (p.old.startsWith("![")) return { picture: /\]\((.*)\)$/.exec(p.old)[1], instruction: p.instruction === "Another picture" ? "" : p.instruction };
  const section = /^the section “(.+)”$/.exec(p.target)?.[1] ?? (p.target === "the introduction" ? "introduction" : "");
  if (p.new === "") return { section, remove: true, instruction: p.instruction };
  if (p.instruction === "Write it again") return { section, again: true };
  return { section, selection: p.target === "the selection" ? p.old : "", instruction: p.instruction };
}

// proposal shows the open proposal of a page; null if there is none.
export function proposal(page) {
  const p = page.a.proposal;
  if (page.asking) return h("section", { class: "panel proposal", "aria-label": "Proposed change" }, h("p", { class: "row", role: "status" }, h("span", { class: "spinner" }), `${page.asking} …`), h("p", { class: "muted small" }, "The text stays as it is until you accept."));
  if (!p) return accepted(page);
  const decide = (decision) => page.tried(async () => {
    await api("POST", `/api/proposals/${p.id}/${decision}`, {});
    page.accepted = decision === "accept" ? summary(p) : "";
    if (decision === "reject") page.host.toast("Rejected. Nothing has changed.");
  });
  const card = h("section", { class: "panel proposal", "data-testid": "proposal", "aria-labelledby": "proposal-title" },
    h("h2", { id: "proposal-title", tabIndex: -1 }, summary(p)), p.instruction ? h("p", { class: "muted small" }, `You asked: “${p.instruction}”`) : null,
    difference(p.old, p.new, "What would change"),
    h("div", { class: "row" }, button("Accept", () => decide("accept"), "primary"), button("Reject", () => decide("reject")), button("Try again", () => page.propose(request(p), "Trying again"), "quiet")));
  return steady(card, () => page.host.toast(texts.moved));
}

// accepted says that a proposal was accepted, and undoes it.
function accepted(page) {
  const [last, before] = page.versions;
  if (!page.accepted || last?.author !== "proposal" || !before) return null;
  return h("section", { class: "panel notice-line", "data-testid": "accepted", role: "status" }, icon("check", 18), h("span", {}, `Accepted. ${page.accepted}`), button("Undo", () => page.restore(before.number), "quiet"));
}
