// What came out: files, the program's output, who did what, and undoing it; and what is beside the plan: background work and permissions.

import { Problem } from "../page/api.js";
import { button, h, icon } from "../page/dom.js";
import { count } from "../page/format.js";
import { counts, diff, output } from "./step.js";
import { post } from "./source.js";
import { words } from "./words.js";

const time = (seconds) => new Intl.NumberFormat(undefined, { style: "unit", unit: "second", unitDisplay: "short", maximumFractionDigits: 1 }).format(seconds);

// outcome shows what a completed plan has made.
export function outcome(done, { dir }, undo) {
  const files = (done.files ?? []).map((f) => h("details", { class: "fold" }, h("summary", {}, h("span", { class: "chevron" }, icon("chevron", 14)), h("code", {}, f.name), counts(f)), diff(f.diff, f.name)));
  return h(
    "section",
    { class: "panel outcome", "aria-labelledby": "outcome" },
    h("div", { class: "panel-head good" }, icon("check", 18), h("h2", { id: "outcome", tabIndex: -1 }, words.doneFiles(done.files?.length ?? 0)), button([icon("undo", 14), words.undo.button], undo)),
    dir ? h("p", { class: "small muted" }, words.doneIn, " ", place(dir)) : null,
    files,
    done.command || done.output ? [h("h3", {}, words.ran), h("div", { class: "terminal" }, done.command ? h("div", { class: "command" }, h("span", { "aria-hidden": "true" }, "$ "), done.command) : null, output(done.output, words.ran))] : null,
    done.agents?.length ? [h("h3", {}, words.agents), agents(done.agents)] : null,
  );
}

// place shows a directory, which breaks between its parts.
function place(dir) {
  return h("code", {}, dir.split(/(?<=[/\\])/).flatMap((part) => [part, h("wbr")]));
}

// notices says who answers, and where the team works.
export function notices({ about, dir }) {
  return [about ? h("p", { class: "notice-line" }, icon("info", 14), about) : null, dir ? h("p", { class: "notice-line" }, icon("file", 14), h("span", {}, words.dir), place(dir)) : null].filter(Boolean);
}

function agents(rows) {
  const sum = (key) => rows.reduce((n, r) => n + r[key], 0);
  const row = (tag, r, name) => h("tr", {}, h(tag, tag === "th" ? { scope: "row" } : {}, name), h("td", {}, count(r.steps)), h("td", {}, count(r.in)), h("td", {}, count(r.out)), h("td", {}, time(r.seconds)));
  const all = { steps: sum("steps"), in: sum("in"), out: sum("out"), seconds: sum("seconds") };
  return h("div", { class: "table", tabIndex: 0, role: "region", "aria-label": words.agents }, h("table", {}, h("thead", {}, h("tr", {}, words.columns.map((c) => h("th", { scope: "col" }, c)))), h("tbody", {}, rows.map((r) => row("th", r, words.who(r.name)))), rows.length > 1 ? h("tfoot", {}, row("th", all, words.total)) : null));
}

// undoDialog asks before everything is undone, and lists what goes.
export function undoDialog(app) {
  const list = h("ul", { class: "goes" });
  const text = h("p", {});
  const error = h("p", { class: "error-text", role: "alert" });
  const buttons = h("div", { class: "buttons" });
  const dialog = h("dialog", { class: "undo-all", "aria-labelledby": "undo-all" }, h("h2", { id: "undo-all" }, words.undo.title), text, list, error, buttons);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const open = (files, run) => {
    const go = async (event) => {
      if (event.detail > 1) return;
      for (const b of buttons.children) b.disabled = true;
      try {
        await post("undo", { session: app.session(), run });
        dialog.close();
        app.say(words.undo.done);
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        error.textContent = problem.message;
        for (const b of buttons.children) b.disabled = false;
      }
    };
    error.textContent = "";
    text.textContent = words.undo.text(files.length);
    list.replaceChildren(...files.map((f) => h("li", {}, h("code", {}, f.name), counts(f))));
    buttons.replaceChildren(button(words.undo.go(files.length), go, "danger"), button(words.undo.keep, () => dialog.close()));
    dialog.showModal();
    buttons.lastChild.focus();
  };
  return { element: dialog, open };
}

// beside shows the work beside the conversation.
export function beside(list) {
  const looks = { running: "spinner", paused: "question", completed: "check", failed: "cross", canceled: "minus" };
  return h(
    "section",
    { class: "panel", "aria-labelledby": "beside" },
    h("h2", { id: "beside" }, words.beside),
    h("ul", { class: "works" }, list.map((w) => h("li", { class: w.state, "data-work": w.id }, h("span", { class: "sign" }, looks[w.state] === "spinner" ? h("span", { class: "spinner" }) : icon(looks[w.state] ?? "minus")), h("div", { class: "work" }, h("span", {}, h("b", {}, words.who(w.member)), h("span", { class: "muted" }, ` · ${words.background[w.state] ?? w.state}`)), h("p", {}, w.task), w.report && w.state === "running" ? h("p", { class: "explain" }, w.report) : w.report ? h("details", { class: "fold", open: true }, h("summary", {}, h("span", { class: "chevron" }, icon("chevron", 14)), words.report(w.member)), h("div", { class: "talk", tabIndex: 0, role: "region", "aria-label": words.report(w.member) }, w.report)) : null)))),
  );
}

// permissions shows what is allowed in this project.
export function permissions(list, app) {
  const row = (g) => {
    const revoke = async () => {
      try {
        await post("revoke", { grant: g.id });
        app.say(words.revoked);
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        app.problem(problem);
      }
    };
    return h("li", { "data-grant": g.id }, icon("check"), h("span", { class: "work" }, h("code", {}, words.grant(g.text)), g.by ? h("span", { class: "muted" }, ` ${words.grantBy(g.by)}`) : null), button(words.revoke, revoke, "quiet", { "aria-label": words.revokeWhat(words.grant(g.text)) }));
  };
  return h("section", { class: "panel quiet", "aria-labelledby": "grants" }, h("h2", { id: "grants" }, words.grants), list.length ? h("ul", { class: "works grants" }, list.map(row)) : h("p", { class: "explain" }, words.noGrants));
}
