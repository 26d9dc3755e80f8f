// A message of the user, which can be changed: what is sent instead replaces it and all that followed.

import { Problem } from "./api.js";
import { button, h, iconButton } from "./dom.js";
import { user } from "./messages.js";
import { texts } from "./texts.js";

export class User {
  // app has replace(item, text), which fails with a Problem, or returns false if the user has changed their mind.
  constructor(item, app) {
    Object.assign(this, { item, app });
    this.element = user(item);
    if (!item.fact) return;
    this.pen = iconButton("pen", texts.editMessage, () => this.edit());
    this.element.querySelector(".who").prepend(h("span", { class: "user-tools" }, this.pen));
  }

  edit() {
    const text = h("textarea", { class: "input", "aria-label": texts.editMessage, value: this.item.text ?? "", onkeydown: (e) => this.key(e), oninput: () => fit(text) });
    this.error = h("p", { class: "error-text", role: "alert" });
    this.field = text;
    this.buttons = h("div", { class: "buttons" }, h("span", { class: "explain" }, texts.editHint), button(texts.ask.cancel, () => this.close()), button(texts.send, null, "primary", { type: "submit" }));
    this.form = h("form", { class: "edit", noValidate: true, onsubmit: (e) => (e.preventDefault(), this.send()) }, text, this.error, this.buttons);
    this.element.classList.add("editing");
    this.element.append(this.form);
    fit(text);
    text.focus();
    text.setSelectionRange(text.value.length, text.value.length);
  }

  key(event) {
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.send();
    }
  }

  async send() {
    const text = this.field.value.trim();
    if (this.busy || (!text && !this.item.files)) return;
    this.wait(true);
    this.error.textContent = "";
    try {
      if (await this.app.replace(this.item, text)) return this.close();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.error.textContent = problem.message;
    } finally {
      this.wait(false);
    }
    this.field.focus();
  }

  wait(yes) {
    this.busy = yes;
    this.field.readOnly = yes;
    for (const b of this.buttons.querySelectorAll("button")) b.disabled = yes;
  }

  close() {
    this.element.classList.remove("editing");
    this.form.remove();
    this.pen.focus({ preventScroll: true });
  }
}

function fit(text) {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight + 2, 320)}px`;
}
