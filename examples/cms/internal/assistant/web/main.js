// Puts the page together: the chat of package agent/serve, the message history, and the preview.

import { words } from "./words.js"; // first: it changes words of the chat
import { h, iconButton } from "../page/dom.js";
import { Page, start } from "../page/page.js";
import { Approvals, escalate } from "./dialogs.js";
import { Layout } from "./layout.js";
import { Log } from "./log.js";
import { Plans, again } from "./plans.js";
import { Preview } from "./preview.js";
import { Strip } from "./strip.js";

class Assistant {
  constructor(config, own) {
    this.layout = new Layout();
    this.approvals = new Approvals();
    this.preview = new Preview(own.preview);
    this.log = new Log({ say: (text) => this.page.say(text), event: (e, live) => this.event(e, live), chat: (entry, go) => this.inChat(entry, go) });
    const { log, chat, preview } = this.layout.areas;
    log.append(...this.log.parts);
    preview.append(...this.preview.parts);
    this.preview.start();
    this.layout.show(this.layout.name, false); // now that they have headings
    document.body.append(this.layout.element, this.approvals.element);
    // While the chat is made, page isn't set yet: what it tells meanwhile is read afterwards.
    this.page = new Page(config, { place: chat, sheet: "all", on: { show: () => this.show(), changed: () => this.changed(), key: (e) => this.key(e) } });
    this.strip = new Strip(this.page, chat);
    const top = chat.querySelector(".top");
    this.plans = new Plans((request) => again(this.page, this.strip, request));
    top.after(this.strip.element, this.plans.element);
    this.bin = iconButton("bin", words.clearSession, () => this.clear());
    top.append(this.bin);
    if (own.note) chat.querySelector(".bottom").append(h("p", { class: "note muted" }, own.note));
    chat.addEventListener("click", (event) => this.inLog(event.target));
    addEventListener("click", (event) => this.closePopovers(event.target));
    this.show();
  }

  // show is called when another session is opened.
  show() {
    if (!this.strip) return;
    this.strip.clear();
    this.plans.clear();
    this.log.open(this.page.stream ? this.page.id : "");
    this.changed();
  }

  // changed is called when something has changed in the session.
  changed() {
    if (!this.strip) return;
    if (this.page.stream && this.page.id !== this.log.session) this.log.open(this.page.id);
    this.bin.hidden = !this.page.stream;
    this.strip.changed();
    this.approvals.changed(this.page);
  }

  event(event, live) {
    this.strip.event(event);
    this.plans.event(event);
    this.preview.event(event);
    if (!live) return;
    if (event.type === "error-escalation" && event.showModal) escalate(event, this.page);
    if (event.type === "finish" && event.status === "completed" && !this.layout.areas.chat.checkVisibility()) this.page.toast(words.finished, words.see, () => this.layout.go("chat"), 6000);
    if (event.type === "approval_decided" && event.decision === "expired") this.page.toast(words.expired, undefined, undefined, 8000);
  }

  clear() {
    const known = this.page.sidebar.find(this.page.id);
    if (known) this.page.sidebar.delete(known);
    else this.page.open("");
  }

  // inChat marks what an entry is about.
  inChat(entry, go) {
    const views = this.page.conversation.views;
    const { itemId, toolCallId, approvalId } = entry.event;
    const element = (views.get(itemId) ?? views.get(approvalId) ?? views.get(toolCallId))?.element;
    for (const el of this.layout.areas.chat.querySelectorAll(".marked")) el.classList.remove("marked");
    if (!element) return;
    element.classList.add("marked");
    if (go) this.layout.show("chat");
    this.page.follower.following = false;
    element.scrollIntoView({ block: "center" });
  }

  // inLog marks the entry about what was clicked in the chat.
  inLog(target) {
    if (target.closest("button, a, input, textarea, .sidebar")) return;
    for (const [id, view] of this.page.conversation.views) if (view.element.contains(target)) return this.log.reveal(id);
  }

  closePopovers(target) {
    for (const el of document.querySelectorAll(".popover[open]")) if (!el.contains(target)) el.open = false;
  }

  // key handles the shortcuts of this page, and returns whether it was one.
  key(event) {
    const typing = event.target.closest?.("input, textarea, select");
    const area = { Digit1: "log", Digit2: "chat", Digit3: "preview" }[event.code];
    if (event.altKey && area) {
      this.layout.go(area);
    } else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      this.layout.show("log");
      this.log.query.focus();
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
