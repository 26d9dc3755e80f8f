// Proposed changes of a text, and the texts that it had before.

import { add, button, h } from "/agent/page/dom.js";
import { count, exactly, when } from "/agent/page/format.js";
import { api } from "./api.js";
import { panel } from "./cards.js";
import { toolName } from "./words.js";

const authors = { user: "you", restore: "undo", proposal: "an accepted proposal", system: "the agent" };

// compare returns the paragraphs of two texts: those that both have, those that go, and those that come.
export function compare(before, after) {
  const a = paragraphs(before), b = paragraphs(after);
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const rows = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) rows.push(["same", a[i++], j++]);
    else if (i < a.length && (j === b.length || longest[i + 1][j] >= longest[i][j + 1])) rows.push(["gone", a[i++]]);
    else rows.push(["new", b[j++]]);
  }
  return rows;
}

const paragraphs = (text) => text.split(/\n{2,}/).map((p) => p.trim()).filter(Boolean);

// difference shows what changes. Long stretches that stay are folded.
export function difference(before, after) {
  const rows = compare(before, after), box = h("div", { class: "difference", tabIndex: 0, role: "region", "aria-label": "Difference" });
  rows.forEach(([kind, text], i) => {
    if (kind === "same") {
      const near = rows[i - 1]?.[0] !== "same" && i > 0, next = rows[i + 1] && rows[i + 1][0] !== "same";
      if (near || next) add(box, h("p", { class: "same" }, text.length > 200 ? `${text.slice(0, 200)}…` : text));
      else if (rows[i - 1]?.[0] !== "same") add(box, h("p", { class: "muted small" }, "…"));
      return;
    }
    add(box, h(kind === "gone" ? "del" : "ins", {}, h("span", { class: "hidden-visually" }, kind === "gone" ? "Goes: " : "Comes: "), text));
  });
  return box;
}

// proposal shows a change that waits to be accepted or rejected; null if there is none.
export function proposal(page) {
  const p = page.a.proposal;
  if (!p) return null;
  const decide = async (decision) => {
    try {
      await api("POST", `/api/proposals/${p.id}/${decision}`, {});
      page.problem = null;
      page.host.toast(decision === "accept" ? "Accepted. The text before it is among the versions." : "Rejected. Nothing has changed.");
    } catch (problem) {
      page.problem = problem;
    }
    await page.refresh();
    page.host.changed();
  };
  return h("section", { class: "panel proposal", "data-testid": "proposal", "aria-label": "Proposed change" },
    h("h2", {}, `Proposed change of ${p.target}`), h("p", { class: "muted small" }, `You asked: “${p.instruction}”`),
    p.new === "" ? h("p", {}, "This part is taken out.") : null, difference(p.old, p.new),
    h("div", { class: "row" }, button("Accept", () => decide("accept"), "primary"), button("Reject", () => decide("reject")), button("Try again", () => page.host.say(p.instruction), "quiet")));
}

// versions lists the texts that the artifact has had; each can be looked at and restored.
export function versions(page) {
  if (page.versions.length < 2) return null;
  const show = async (v) => {
    const old = await api("GET", `/api/artifacts/${page.id}/versions/${v.number}`);
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "version", onclose: () => dialog.remove() },
      h("h2", { id: "version" }, `Version ${count(v.number)}, compared with the text as it is now`),
      old.title === page.a.title ? null : h("p", {}, "Title: ", h("b", {}, old.title)),
      old.content === page.a.content ? h("p", {}, "The text is the same.") : difference(page.a.content, old.content),
      h("div", { class: "row" }, button("Close", () => dialog.close()), button("Restore this version", async () => {
        dialog.close();
        try {
          await api("POST", `/api/artifacts/${page.id}/versions/${v.number}/restore`, {});
          page.host.toast(`Version ${v.number} is back. The text before it is among the versions.`);
        } catch (problem) {
          page.problem = problem;
        }
        await page.refresh();
      }, "primary")));
    add(document.body, dialog);
    dialog.showModal();
  };
  return panel("Versions", h("ol", { class: "past", "data-testid": "versions" }, page.versions.slice(1, 13).map((v) => h("li", { class: "small" },
    h("button", { type: "button", class: "link", onclick: () => show(v) }, `Version ${count(v.number)} by ${authors[v.author] ?? toolName(v.author).toLowerCase()}`),
    h("time", { class: "muted", title: exactly(new Date(v.at)) }, when(new Date(v.at)))))));
}
