// The three areas of the page: side by side, or as tabs where there is no room. Their widths are remembered.

import { button, h, remembered } from "../page/dom.js";
import { splitter } from "../page/shell.js";
import { words } from "./words.js";

const names = ["site", "chat", "preview"];
const least = { site: 208, preview: 320 }; // pixels

export class Areas {
  constructor() {
    const area = (name, tag) => h(tag, { class: `area ${name}`, id: `area-${name}`, "aria-label": tag === "section" ? words.areas[name] : null });
    this.all = { site: area("site", "section"), chat: area("chat", "div"), preview: area("preview", "section") };
    this.buttons = names.map((name) => button(words.areas[name], () => this.show(name), "quiet", { "aria-controls": `area-${name}` }));
    const { site, chat, preview } = this.all;
    site.append(splitter(site, words.width(words.areas.site), 1, (n) => this.size("site", n)));
    preview.append(splitter(preview, words.width(words.areas.preview), -1, (n) => this.size("preview", n)));
    this.element = h("div", { class: "areas" }, h("nav", { class: "views", "aria-label": words.areasLabel }, h("h1", { class: "hidden-visually" }, words.title), this.buttons), site, chat, preview);
    for (const name of ["site", "preview"]) this.size(name, Number(remembered.get(`cms.width.${name}`)) || 0);
    this.phone = matchMedia("(max-width: 719px)");
    this.wide = matchMedia("(min-width: 1200px)");
    for (const media of [this.phone, this.wide]) media.addEventListener("change", () => this.show(this.name, false));
    this.show(names.find((n) => location.hash === `#${n}`) ?? remembered.get("cms.area") ?? "chat", false);
  }

  // show makes an area visible. Between phone and desktop the chat always is, and the others take turns.
  show(name, keep = true) {
    this.name = names.includes(name) ? name : "chat";
    const shown = !this.phone.matches && this.name === "chat" ? "preview" : this.name;
    this.element.dataset.area = shown;
    this.buttons.forEach((b, i) => {
      b.setAttribute("aria-pressed", String(names[i] === shown));
      b.hidden = names[i] === "chat" && !this.phone.matches;
    });
    for (const area of ["site", "preview"]) { // alone on the screen, an area is the main part of the page
      const alone = this.phone.matches && area === shown;
      if (alone) this.all[area].setAttribute("role", "main");
      else this.all[area].removeAttribute("role");
    }
    this.shown?.();
    if (!keep) return;
    remembered.set("cms.area", this.name);
    history.replaceState(null, "", `${location.pathname}${location.search}#${this.name}`);
  }

  // go shows an area, and moves the focus there.
  go(name) {
    this.show(name);
    this.all[name].querySelector(name === "chat" ? ".composer textarea" : "input, a, button")?.focus();
  }

  // mark says at the button of an area that something waits there.
  mark(name, waits) {
    const b = this.buttons[names.indexOf(name)];
    const label = waits ? words.waitsIn(words.areas[name]) : words.areas[name];
    if (b.textContent !== label) b.textContent = label;
  }

  // size sets the width of an outer area in pixels; 0 is its own.
  size(name, pixels) {
    if (!pixels) return this.element.style.removeProperty(`--width-${name}`);
    const wide = Math.round(Math.max(least[name], Math.min(pixels, innerWidth - 640)));
    this.element.style.setProperty(`--width-${name}`, `${wide}px`);
    remembered.set(`cms.width.${name}`, String(wide));
  }
}
