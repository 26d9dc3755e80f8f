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

  // open asks the server what an undo would do, and then the user.
  async open() {
    if (this.busy || this.element.open) return;
    const session = this.app.session();
    this.busy = true;
    try {
      const answer = await api.undoable(session);
      if (session === this.app.session()) this.show(session, answer);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.app.problem(problem);
    } finally {
      this.busy = false;
    }
  }

  show(session, { run, undone, stays, pruned }) {
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
    const go = undone.length > 0 ? button(texts.undoing.go(undone.length), (event) => event.detail > 1 || this.run(session, run), "danger") : null;
    this.buttons.replaceChildren(...[go, cancel].filter(Boolean));
    this.element.showModal();
    cancel.focus(); // Enter must not undo what nobody has read
  }

  async run(session, run) {
    if (this.busy) return;
    this.wait(true);
    try {
      await api.undo(session, run);
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
