// The line below the chat's title: the modes and the state of the work. Beside the title is which model writes.

import { h, icon, remembered } from "../page/dom.js";
import { texts } from "../page/texts.js";
import { words } from "./words.js";

export class Strip {
  constructor(page, own) {
    this.page = page;
    const modes = page.config.modes.map(({ name }) => {
      const [label, title] = words.modes[name] ?? [name, ""];
      return h("button", { type: "button", title, "data-mode": name, onclick: () => this.choose(name) }, label);
    });
    this.modes = h("div", { class: "modes", role: "group", "aria-label": words.mode }, modes);
    const standin = /stand-in/i.test(own.note ?? "");
    const name = standin ? words.standin : /^The model is (.+?)\.?$/.exec(own.note ?? "")?.[1] ?? words.model;
    this.menu = h("details", { class: "popover" }, h("summary", { class: "button quiet" }, icon(standin ? "info" : "check", 14), name), h("div", { class: "popover-body" }, standin ? [h("b", {}, words.standinTitle), words.standinText.map((t) => h("p", {}, t)), h("pre", { class: "data", tabIndex: 0 }, words.standinCommand), h("p", {}, words.standinMore)] : h("p", {}, own.note || words.modelText(name))));
    this.element = h("div", { class: "strip" }, this.modes, h("span", { class: "space" }), page.status);
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

  // changed shows the mode that the next message has, and what to write in it.
  changed() {
    const { composer } = this.page;
    texts.write = words.modes[composer.modes.value]?.[2] ?? texts.write;
    composer.show();
    for (const b of this.modes.children) b.setAttribute("aria-pressed", String(b.dataset.mode === composer.modes.value));
  }
}
