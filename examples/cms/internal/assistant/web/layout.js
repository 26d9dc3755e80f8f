// The three areas of the page: side by side, or as tabs where there is no room. Their widths are remembered.

import { button, h, remembered } from "../page/dom.js";
import { words } from "./words.js";

const names = ["log", "chat", "preview"];
const least = 280; // pixels of an area

export class Layout {
  constructor() {
    this.areas = {
      log: h("section", { class: "area log", "aria-label": words.log, id: "area-log" }),
      chat: h("div", { class: "area chat", id: "area-chat" }),
      preview: h("section", { class: "area preview", "aria-label": words.areas.preview, id: "area-preview" }),
    };
    this.buttons = names.map((name) => button(words.areas[name], () => this.show(name), "quiet", { "aria-controls": `area-${name}` }));
    const { log, chat, preview } = this.areas;
    this.tabs = h("nav", { class: "views", "aria-label": words.areasLabel }, this.buttons);
    log.append(this.splitter("log"));
    preview.append(this.splitter("preview"));
    this.element = h("div", { class: "areas" }, this.tabs, log, chat, preview);
    for (const name of ["log", "preview"]) this.size(name, Number(remembered.get(`cms.width.${name}`)) || 0);
    this.narrow = matchMedia("(max-width: 719px)");
    this.wide = matchMedia("(min-width: 1200px)");
    for (const media of [this.narrow, this.wide]) media.addEventListener("change", () => this.show(this.name));
    this.show(names.find((n) => location.hash === `#${n}`) ?? remembered.get("cms.area") ?? "chat", false);
  }

  // show makes an area visible. Between phone and desktop the chat always is, and the others take turns.
  show(name, keep = true) {
    this.name = names.includes(name) ? name : "chat";
    const shown = !this.narrow.matches && this.name === "chat" ? "preview" : this.name;
    this.element.dataset.area = shown;
    this.buttons.forEach((b, i) => {
      b.setAttribute("aria-pressed", String(names[i] === shown));
      b.hidden = names[i] === "chat" && !this.narrow.matches;
    });
    for (const area of ["log", "preview"]) { // alone on the screen, an area is the main part of the page
      const alone = this.narrow.matches && area === shown;
      if (alone) this.areas[area].setAttribute("role", "main");
      else this.areas[area].removeAttribute("role");
      this.areas[area].querySelector("h2")?.setAttribute("aria-level", alone ? "1" : "2");
    }
    if (!keep) return;
    remembered.set("cms.area", this.name);
    history.replaceState(null, "", `${location.pathname}${location.search}#${this.name}`);
  }

  // go shows an area, and moves the focus there.
  go(name) {
    this.show(name);
    this.areas[name].querySelector(name === "chat" ? ".composer textarea" : "input, a, button")?.focus();
  }

  // size sets the width of an outer area in pixels; 0 is its own.
  size(name, pixels) {
    if (!pixels) return this.element.style.removeProperty(`--width-${name}`);
    const wide = Math.round(Math.max(least, Math.min(pixels, innerWidth - 2 * least - 40)));
    this.element.style.setProperty(`--width-${name}`, `${wide}px`);
    remembered.set(`cms.width.${name}`, String(wide));
  }

  splitter(name) {
    const area = this.areas[name];
    const sign = name === "log" ? 1 : -1;
    const label = name === "log" ? words.width(words.areas.log, words.areas.chat) : words.width(words.areas.chat, words.areas.preview);
    const el = h("div", { class: "splitter", role: "separator", tabIndex: 0, "aria-orientation": "vertical", "aria-label": label, "aria-valuenow": "50", "aria-controls": area.id });
    const said = () => el.setAttribute("aria-valuenow", String(Math.round((100 * area.offsetWidth) / innerWidth)));
    el.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
      if (step) this.size(name, area.offsetWidth + sign * step);
      else if (event.key === "Home") this.size(name, 0);
      said();
    });
    el.addEventListener("dblclick", () => this.size(name, 0));
    el.addEventListener("pointerdown", (event) => {
      const [from, width] = [event.clientX, area.offsetWidth];
      el.setPointerCapture(event.pointerId);
      this.element.classList.add("resizing"); // the frame would take the pointer
      const move = (e) => this.size(name, width + sign * (e.clientX - from));
      const end = () => {
        el.removeEventListener("pointermove", move);
        this.element.classList.remove("resizing");
        said();
      };
      el.addEventListener("pointermove", move);
      el.addEventListener("lostpointercapture", end, { once: true });
    });
    return el;
  }
}
