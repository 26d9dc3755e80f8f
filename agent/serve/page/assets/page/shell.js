// What is around the conversation: the theme, the list as a sheet, messages that pass, the dialog of shortcuts, and following the end.

import { button, h, icon, iconButton, remembered } from "./dom.js";
import { texts } from "./texts.js";

// themeButton switches between light and dark, and remembers it.
export function themeButton() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const el = iconButton("sun", texts.theme, () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remembered.set("theme", root.dataset.theme);
    show();
  });
  const show = () => el.replaceChildren(icon(dark() ? "sun" : "moon", 18));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  return el;
}

// A Toasts shows messages that pass: what has happened elsewhere, and can be undone.
export class Toasts {
  constructor() {
    this.element = h("div", { class: "toasts", role: "status" });
  }

  show(text, action, run, time = 3000) {
    const gone = () => el.remove();
    const el = h("div", { class: "toast" }, h("span", {}, text), action ? h("button", { type: "button", onclick: () => (gone(), clearTimeout(timer), run()) }, action) : null);
    const timer = setTimeout(gone, time);
    if (!action) for (const old of this.element.querySelectorAll(".toast:not(:has(button))")) old.remove();
    this.element.append(el);
  }
}

// help makes the dialog that lists the shortcuts.
export function help() {
  const dialog = h("dialog", { "aria-labelledby": "help-title" }, h("h2", { id: "help-title" }, texts.shortcuts), h("dl", {}, texts.keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])), button(texts.close, () => dialog.close(), "primary"));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

// A Menu is the list of sessions: beside the conversation, or a sheet over it on a narrow screen.
export class Menu {
  constructor(app, sheet = "(max-width: 719px)") {
    this.app = app;
    this.phone = matchMedia(sheet);
    this.app.classList.toggle("narrow", remembered.get("sidebar") === "hidden");
    this.phone.addEventListener("change", () => this.close());
  }

  toggle() {
    if (!this.phone.matches) {
      const hidden = this.app.classList.toggle("narrow");
      remembered.set("sidebar", hidden ? "hidden" : "");
      return;
    }
    if (this.app.classList.contains("open")) return this.close();
    this.from = document.activeElement;
    this.app.classList.add("open");
    this.modal(this.app.offsetWidth >= innerWidth); // beside other parts of a page, the sheet covers only the chat
    document.querySelector(".sidebar button").focus();
  }

  // modal says whether the sheet is all that can be used.
  modal(on) {
    const sheet = document.querySelector(".sidebar");
    document.querySelector(".main").inert = on;
    sheet.setAttribute("role", on ? "dialog" : "navigation");
    on ? sheet.setAttribute("aria-modal", "true") : sheet.removeAttribute("aria-modal");
  }

  // close closes the sheet. It reports whether it was open.
  close() {
    const open = this.app.classList.contains("open");
    this.app.classList.remove("open");
    this.modal(false);
    if (open) this.from?.focus?.();
    return open;
  }

  // reveal makes the list visible.
  reveal() {
    if (this.phone.matches ? !this.app.classList.contains("open") : this.app.classList.contains("narrow")) this.toggle();
  }
}

// splitter makes the edge at which an area is made wider or narrower, with the pointer or the arrow keys. size(pixels) sets its width; 0 is its own. sign
// is 1 if a step to the right makes it wider, else -1.
export function splitter(area, label, sign, size) {
  const el = h("div", { class: "splitter", role: "separator", tabIndex: 0, "aria-orientation": "vertical", "aria-label": label, "aria-valuenow": "50", "aria-controls": area.id });
  const said = () => el.setAttribute("aria-valuenow", String(Math.round((100 * area.offsetWidth) / innerWidth)));
  el.addEventListener("keydown", ({ key }) => {
    const step = { ArrowLeft: -24, ArrowRight: 24 }[key];
    if (step) size(area.offsetWidth + sign * step);
    else if (key === "Home") size(0);
    said();
  });
  el.addEventListener("dblclick", () => (size(0), said()));
  el.addEventListener("pointerdown", (event) => {
    const [from, width] = [event.clientX, area.offsetWidth];
    el.setPointerCapture(event.pointerId);
    document.body.classList.add("resizing"); // a frame would take the pointer
    const move = (e) => size(width + sign * (e.clientX - from));
    el.addEventListener("pointermove", move);
    el.addEventListener("lostpointercapture", () => (el.removeEventListener("pointermove", move), document.body.classList.remove("resizing"), said()), { once: true });
  });
  return el;
}

// A Follower keeps the end of the conversation in view while the reader is at the end, and offers to go there otherwise.
export class Follower {
  constructor(scroller, content) {
    this.scroller = scroller;
    this.following = true;
    this.jump = button([icon("down", 14), h("span", {}, texts.jump)], () => this.end(true), "jump", { hidden: true, "aria-label": texts.jump });
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.grown()).observe(content);
    new ResizeObserver(() => this.grown()).observe(scroller);
  }

  get distance() {
    const s = this.scroller;
    return s.scrollHeight - s.scrollTop - s.clientHeight;
  }

  scrolled() {
    const { scrollTop, clientHeight } = this.scroller;
    const up = scrollTop < (this.top ?? 0) - 1 && clientHeight === this.height; // otherwise it isn't the reader who has scrolled
    Object.assign(this, { top: scrollTop, height: clientHeight });
    if (this.distance < 40) this.following = true;
    else if (up) this.following = false;
    this.show();
  }

  grown() {
    if (this.following) this.end(false);
    this.show();
  }

  show() {
    this.jump.hidden = this.distance < 120 || this.following;
  }

  end(smooth) {
    this.following = true;
    this.scroller.scrollTo({ top: this.scroller.scrollHeight, behavior: smooth ? "smooth" : "instant" });
    this.show();
  }
}
