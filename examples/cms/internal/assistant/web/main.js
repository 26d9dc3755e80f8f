// Puts the page together: the site at the left, the chat of package agent/serve, and the preview with the log behind it.

import { words } from "./words.js"; // first: it changes words of the chat
import { button, h, icon, iconButton } from "../page/dom.js";
import { Page, start } from "../page/page.js";
import { texts } from "../page/texts.js";
import { Answers } from "./answers.js";
import { Areas } from "./areas.js";
import { Log } from "./log.js";
import { showPlans } from "./plans.js";
import { Preview } from "./preview.js";
import { SiteList } from "./site.js";
import { Strip } from "./strip.js";
import { subject } from "./subject.js";
import { Uploads } from "./uploads.js";

class Assistant {
  constructor(config, own) {
    this.areas = new Areas();
    const { site, chat, preview } = this.areas.all;
    const say = (text) => this.page.toast(text, undefined, undefined, 5000);
    this.log = new Log(say);
    this.list = new SiteList({ say, open: (path) => this.open(path), mention: (text) => this.mention(text), upload: (files) => this.uploads.add(files, false), listed: () => this.preview.named() });
    this.preview = new Preview(own.preview, { say, session: () => this.page.id, named: (path) => this.list.names.get(path), mention: (text) => this.mention(text), shown: (path) => this.shown(path), changed: () => this.list.soon(), log: (open) => this.showLog(open) }, this.log.parts);
    site.append(...this.list.parts);
    preview.append(...this.preview.parts);
    document.body.append(this.areas.element);
    if (/stand-in/i.test(own.note ?? "")) texts.emptyText += ` ${words.standinEmpty}`;
    // While the chat is made, page isn't set yet: what it tells meanwhile is read afterwards.
    this.page = new Page(config, { place: chat, sheet: "all", on: { show: () => this.show(), changed: () => this.changed(), headers: () => ({ "X-CMS-Screen": this.preview.path }), key: (e) => this.key(e) } });
    const top = chat.querySelector(".top");
    this.strip = new Strip(this.page, own);
    top.after(this.strip.element);
    top.append(this.strip.menu, iconButton("plus", texts.newChat, () => this.page.open("")));
    this.answers = new Answers(this.page, own.preview);
    this.uploads = new Uploads(this.page, this.areas, () => this.list.soon());
    document.addEventListener("visibilitychange", () => this.showLog(this.logOpen));
    addEventListener("click", (event) => this.closePopovers(event.target));
    addEventListener("resize", () => this.page.composer.resize());
    document.body.prepend(chat.querySelector(".skip")); // before the lists of the site
    if (!this.areas.phone.matches && document.activeElement === document.body) this.page.composer.focus();
    this.areas.shown = () => this.page.composer.resize(); // a field that isn't shown has no height
    this.preview.open("/pages/home");
    this.list.load();
    this.show();
  }

  // show is called when another session is opened.
  show() {
    if (!this.strip) return;
    this.answers.shown.clear();
    this.preview.key = "";
    this.preview.decided();
    this.changed();
  }

  // changed is called when something has changed in the session.
  changed() {
    if (!this.strip) return;
    const { page } = this;
    this.strip.changed();
    showPlans(page);
    this.cards();
    this.answers.changed();
    const asked = page.model.asked();
    if (asked.length === 0) this.preview.decided();
    const about = subject(page.model);
    if (about?.key !== this.about) this.list.soon(150);
    this.about = about?.key;
    this.preview.follow(about);
    this.areas.mark("chat", asked.length > 0);
    this.showLog(this.logOpen);
    if (page.model.state.status !== this.status) {
      if (asked.length > 0 && page.settled && this.areas.phone.matches) this.areas.show("chat");
      if (page.model.state.status === "completed" && page.settled && !page.holder.checkVisibility()) page.toast(words.finished, words.see, () => this.areas.go("chat"), 6000);
    }
    this.status = page.model.state.status;
  }

  // cards folds the exact inputs in the cards of changes, whose titles say them in words, and offers the preview where it isn't beside them.
  cards() {
    for (const item of this.page.model.asked()) {
      const facts = this.page.conversation.views.get(item.id)?.facts;
      if (item.pause.ask !== "approval" || !facts || facts.querySelector(".see-preview")) continue;
      const input = facts.querySelector(":scope > .facts");
      if (input) facts.append(h("details", { class: "raw" }, h("summary", {}, words.exactly), input));
      facts.append(button([icon("open", 14), words.seePreview], () => this.areas.go("preview"), "see-preview"));
    }
  }

  showLog(open) {
    this.logOpen = open;
    this.log.show(this.page?.stream ? this.page.id : "", open && !document.hidden);
  }

  // open shows a page of the site.
  open(path) {
    this.preview.tab("preview");
    this.preview.open(path);
    this.areas.show("preview");
  }

  // shown is called when the preview shows another page, or the same again because the site has changed.
  shown(path) {
    this.list.current(path);
    this.list.soon(300);
  }

  // mention puts a name into the message.
  mention(text) {
    const field = this.page.composer.text;
    const [before, after] = [field.value.slice(0, field.selectionStart), field.value.slice(field.selectionEnd)];
    const gap = before && !/\s$/.test(before) ? " " : "";
    if (this.areas.phone.matches) this.areas.show("chat");
    this.page.composer.fill(`${before}${gap}${text}${after.startsWith(" ") ? "" : " "}${after}`, this.page.composer.attached);
    this.page.composer.focus();
    field.setSelectionRange((before + gap + text).length + 1, (before + gap + text).length + 1);
  }

  closePopovers(target) {
    for (const el of document.querySelectorAll(".popover[open]")) if (!el.contains(target)) el.open = false;
  }

  // key handles the shortcuts of this page, and returns whether it was one.
  key(event) {
    const typing = event.target.closest?.("input, textarea, select");
    const area = { Digit1: "site", Digit2: "chat", Digit3: "preview" }[event.code];
    if (event.altKey && area) {
      this.areas.go(area);
    } else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      this.areas.show("site");
      this.list.query.focus();
    } else {
      if (event.key === "Escape") this.closePopovers(document.body);
      return false;
    }
    event.preventDefault();
    return true;
  }
}

const own = fetch("cms/config").then((answer) => answer.json()).catch(() => ({}));
start(async (config) => {
  const known = await own;
  document.getElementById("first").remove();
  new Assistant(config, known);
  performance.mark("ready");
});
