// The two areas of the page: side by side, or as tabs on a phone.

import { button, h } from "../page/dom.js";
import { words } from "./words.js";

const names = ["chat", "board"];

export class Layout {
  // shown is called with the name of an area that somebody has chosen.
  constructor(shown) {
    this.shown = shown;
    this.areas = {
      chat: h("div", { class: "area chat", id: "area-chat" }),
      board: h("section", { class: "area board", id: "area-board", "aria-label": words.board }),
    };
    this.badge = h("span", { class: "badge", hidden: true });
    this.buttons = names.map((name) => button(words.areas[name], () => this.show(name), "quiet", { "aria-controls": `area-${name}` }));
    this.buttons[1].append(this.badge);
    this.element = h("div", { class: "areas" }, h("nav", { class: "views", "aria-label": words.areasLabel }, this.buttons), this.areas.chat, this.areas.board);
    this.phone = matchMedia("(max-width: 719px)");
    this.phone.addEventListener("change", () => this.show(this.name));
    addEventListener("hashchange", () => this.show(location.hash.slice(1), false));
    this.show(location.hash.slice(1), false);
  }

  // show makes an area visible, where there is room for one only.
  show(name, keep = true) {
    this.name = names.includes(name) ? name : "chat";
    this.element.dataset.area = this.name;
    this.buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(names[i] === this.name)));
    const alone = this.phone.matches && this.name === "board"; // it is the main part of the page then
    if (alone) this.areas.board.setAttribute("role", "main");
    else this.areas.board.removeAttribute("role");
    this.areas.board.querySelector("h2")?.setAttribute("aria-level", alone ? "1" : "2");
    if (keep) this.shown(this.name);
    if (keep) history.replaceState(null, "", `${location.pathname}${location.search}${this.name === "chat" ? "" : `#${this.name}`}`);
  }

  // waiting says on the tab how many decisions wait.
  waiting(n) {
    this.badge.hidden = n === 0;
    this.badge.textContent = n ? words.waits(n) : "";
  }
}
