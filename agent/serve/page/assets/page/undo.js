// Undoing what the last answer has changed: what can be undone and what stays is said before, and what has come of it is a notice in the conversation.

import { Problem, api } from "./api.js";
import { button, h, icon } from "./dom.js";
import { effects } from "./messages.js";
import { texts } from "./texts.js";

export function undoButton(onclick) {
  return button([icon("undo", 14), texts.undoing.button], onclick, "quiet undo");
}

// An Undo is the dialog that asks. app has session(), problem(problem) and done(), which is called after something was undone.
export class Undo {
  constructor(app) {
    this.app = app;
    this.body = h("div", { class: "body" });
    this.error = h("p", { class: "error-text", role: "alert" });
    this.buttons = h("div", { class: "buttons" });
    this.element = h("dialog", { class: "undo-dialog", "aria-labelledby": "undo-title" }, h("h2", { id: "undo-title" }, texts.undoing.title), this.body, this.error, this.buttons);
    this.element.addEventListener("click", (event) => event.target === this.element && this.close());
    this.element.addEventListener("cancel", (event) => this.busy && event.preventDefault());
  }

  // open asks the server what an undo of runs would do, and then the user; without runs, of the last. It returns "undone", "left" or "", if the user
  // has changed their mind. before says that a message comes after it, which can be sent in any case.
  async open(runs = [""], before = false) {
    if (this.busy || this.element.open) return "";
    const session = this.app.session();
    const all = { undone: [], stays: [], runs: [] };
    this.busy = true;
    try {
      for (const run of runs) {
        const answer = await api.undoable(session, run);
        if (answer.undone.length > 0) all.runs.push(answer.run);
        all.undone.push(...answer.undone);
        all.stays.push(...answer.stays);
        all.pruned ||= answer.pruned;
      }
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.app.problem(problem);
      return "";
    } finally {
      this.busy = false;
    }
    if (session !== this.app.session()) return "";
    return new Promise((resolve) => {
      this.outcome = "";
      this.element.addEventListener("close", () => resolve(this.outcome), { once: true });
      this.show(session, all, before);
    });
  }

  show(session, { runs, undone, stays, pruned }, before) {
    this.element.querySelector("h2").textContent = before ? texts.undoing.titleBefore : texts.undoing.title;
    const section = (sign, title, list) => (list.length > 0 ? h("section", {}, h("h3", {}, icon(sign), title), effects(list)) : null);
    this.error.textContent = "";
    this.body.replaceChildren(
      ...[
        undone.length === 0 && stays.length === 0 && !pruned ? h("p", {}, texts.undoing.nothing) : null,
        section("undo", texts.undoing.will, undone),
        section("minus", texts.undoing.wont, stays),
        pruned ? h("p", { class: "explain" }, texts.undoing.pruned) : null,
      ].filter(Boolean),
    );
    const cancel = button(undone.length > 0 ? texts.ask.cancel : texts.close, () => this.close());
    const go = undone.length > 0 ? button((before ? texts.undoing.goBefore : texts.undoing.go)(undone.length), (event) => event.detail > 1 || this.run(session, runs), "danger") : null;
    const leave = before ? button(texts.undoing.leave, () => ((this.outcome = "left"), this.close())) : null;
    this.buttons.replaceChildren(...[go, leave, cancel].filter(Boolean));
    this.element.showModal();
    cancel.focus(); // Enter must not undo what nobody has read
  }

  async run(session, runs) {
    if (this.busy) return;
    this.wait(true);
    try {
      for (const run of runs) await api.undo(session, run);
      this.outcome = "undone";
      this.wait(false);
      this.close();
      this.app.done();
    } catch (problem) {
      this.wait(false);
      if (!(problem instanceof Problem)) throw problem;
      this.error.textContent = problem.message;
    }
  }

  wait(yes) {
    this.busy = yes;
    for (const b of this.buttons.querySelectorAll("button")) b.disabled = yes;
    this.buttons.setAttribute("aria-busy", String(yes));
  }

  close() {
    if (!this.busy) this.element.close();
  }
}
