// What keeps everything else waiting: approvals, calls in doubt, and failures that need a person.

import { button, h, icon } from "../page/dom.js";
import { data } from "../page/call.js";
import { texts } from "../page/texts.js";
import { words } from "./words.js";

// An Approvals shows the open approvals of the chat in a dialog that can't be dismissed. The cards are those of the chat: they go back to their
// place as records when they are decided.
export class Approvals {
  constructor() {
    this.held = new Map();
    this.title = h("h2", { id: "approvals-title" });
    this.text = h("p", { id: "approvals-text", class: "muted" });
    this.left = h("progress", { class: "time-left", max: 1, "aria-hidden": "true" });
    this.list = h("div", { class: "held" });
    this.element = h("dialog", { class: "approvals", "aria-labelledby": "approvals-title", "aria-describedby": "approvals-text" }, h("div", { class: "dialog-lead" }, icon("warning", 22), this.title), this.text, this.left, this.list);
    setInterval(() => this.element.open && this.tick(), 1000);
    this.element.addEventListener("cancel", (event) => event.preventDefault());
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && event.preventDefault());
  }

  // changed takes the open cards, and returns the others.
  changed(page) {
    const open = page.model.open().filter((i) => ["approval", "in_doubt"].includes(i.pause.ask));
    for (const item of open) {
      const view = page.conversation.views.get(item.id);
      if (!view || this.held.get(item.id)?.view === view) continue;
      const place = document.createComment("");
      view.element.replaceWith(place);
      const box = h("div", {}, view.element, item.pause.input ? h("details", { class: "raw" }, h("summary", {}, words.callJSON), data(item.pause.input)) : null);
      this.held.set(item.id, { view, place, box });
      this.list.append(box);
    }
    for (const [id, { view, place, box }] of this.held) {
      if (open.some((i) => i.id === id && page.conversation.views.get(id) === view)) continue;
      place.replaceWith(view.element);
      box.remove();
      this.held.delete(id);
    }
    const doubt = open.length > 0 && open.every((i) => i.pause.ask === "in_doubt");
    this.title.textContent = doubt ? words.doubtTitle : words.approvalTitle;
    this.text.textContent = doubt ? words.doubtText : words.approvalText;
    const times = open.filter((i) => i.pause.expires).map((i) => [Date.parse(i.pause.expires), Date.parse(i.time) || Date.now()]);
    [this.expires, this.began] = times.sort((a, b) => a[0] - b[0])[0] ?? [];
    this.tick();
    if (this.held.size > 0 && !this.element.open) {
      this.element.showModal();
      this.list.querySelector(".card")?.focus({ preventScroll: true });
      this.element.scrollTop = 0;
    } else if (this.held.size === 0 && this.element.open) {
      this.element.close();
      page.composer.focus();
    }
  }

  // tick shows how much time is left, beside the words on the card.
  tick() {
    this.left.hidden = !this.expires;
    if (this.expires) this.left.value = Math.max(0, (this.expires - Date.now()) / (this.expires - this.began));
  }
}

// escalate shows a failure that the assistant can't correct by itself.
export function escalate(event, page) {
  const close = () => (dialog.close(), dialog.remove());
  const tell = () => {
    close();
    const field = page.composer.text;
    if (!field.value) page.composer.fill(words.tellText(event.tool || "the model"), []);
    page.composer.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  };
  const dialog = h(
    "dialog",
    { class: "escalation", "aria-labelledby": "escalation-title" },
    h("div", { class: "dialog-lead danger" }, icon("warning", 22), h("h2", { id: "escalation-title" }, words.escalationTitle)),
    h("p", {}, event.tool ? h("b", {}, `${event.tool}: `) : null, event.reason),
    event.error ? data(String(event.error)) : null,
    event.remedies?.length ? h("div", {}, h("span", { class: "field-name" }, words.remedies), h("ul", { class: "remedies" }, event.remedies.map((r) => h("li", {}, r)))) : null,
    h("div", { class: "buttons" }, button(words.tell, tell, "primary"), button(texts.close, close)),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector(".primary").focus();
}
