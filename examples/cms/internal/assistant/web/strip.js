// The line below the chat's title: the modes as tabs, what is shown, the phase of the work, and how far it is.

import { h, icon, remembered } from "../page/dom.js";
import { words } from "./words.js";

export class Strip {
  // area is the element whose classes hide calls and reasoning.
  constructor(page, area) {
    this.page = page;
    const modes = page.config.modes.map(({ name }) => {
      const [label, title] = words.modes[name] ?? [name, ""];
      return h("button", { type: "button", title, "data-mode": name, onclick: () => this.choose(name) }, label);
    });
    this.modes = h("div", { class: "modes", role: "group", "aria-label": words.mode }, modes);
    const box = (name, label) => {
      const hidden = () => area.classList.toggle(`no-${name}`, !input.checked);
      const input = h("input", { type: "checkbox", checked: remembered.get(`cms.hide.${name}`) === null, onchange: () => (remembered.set(`cms.hide.${name}`, input.checked ? "" : "yes"), hidden()) });
      hidden();
      return h("label", {}, input, label);
    };
    this.menu = h("details", { class: "popover" }, h("summary", { class: "button quiet" }, words.show), h("div", { class: "popover-body" }, box("calls", words.showCalls), box("reasoning", words.showReasoning)));
    this.phase = h("span", { class: "phase", hidden: true });
    this.bar = h("progress", { max: 1, hidden: true });
    this.element = h("div", { class: "strip" }, this.modes, h("span", { class: "space" }), this.phase, this.bar, this.menu);
    const last = remembered.get("cms.mode");
    if (page.config.modes.some((m) => m.name === last)) page.composer.modes.value = last;
    this.changed();
  }

  choose(name) {
    this.page.composer.modes.value = name;
    remembered.set("cms.mode", name);
    this.page.mode(name);
    this.changed();
  }

  // changed shows the mode that the next message has.
  changed() {
    for (const b of this.modes.children) b.setAttribute("aria-pressed", String(b.dataset.mode === this.page.composer.modes.value));
  }

  clear() {
    this.phase.hidden = this.bar.hidden = true;
  }

  event(e) {
    if (e.type === "user-message") this.clear();
    if (e.type === "phase-transition") this.say(e.to);
    if (e.type === "error-escalation") this.say("escalated");
    if (e.type === "progress-update") this.progress(e.progress, words.progress(e.completed, e.completed + e.pending));
    if (e.type === "plan" && e.steps?.length) this.progress(e.done / e.steps.length, e.title);
    if (e.type === "finish") {
      this.bar.hidden = true;
      if (e.status !== "completed") this.phase.hidden = true;
    }
  }

  say(phase) {
    const sign = { completed: "check", escalated: "warning", stuck: "warning" }[phase];
    this.phase.replaceChildren(...(sign ? [icon(sign, 14)] : []), words.phases[phase] ?? phase);
    this.phase.hidden = false;
  }

  progress(value, label) {
    this.bar.value = value;
    this.bar.hidden = value >= 1;
    this.bar.setAttribute("aria-label", label);
    this.bar.title = label;
  }
}
