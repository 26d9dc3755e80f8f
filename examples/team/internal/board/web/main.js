// Puts the page together: the chat of package agent/serve, and the board beside it.

import { words } from "./words.js"; // first: it changes words of the chat
import { Problem, api } from "../page/api.js";
import { button, h, icon } from "../page/dom.js";
import { sentence } from "../page/format.js";
import { Page, start } from "../page/page.js";
import { Board } from "./board.js";
import { Layout } from "./layout.js";
import { notices } from "./outcome.js";
import { Source } from "./source.js";

class Team {
  // first is the name of a conversation that doesn't exist yet, which the first message begins; empty: it gets one of its own.
  constructor(config, own, first) {
    this.asks = [];
    this.layout = new Layout((name) => name === "board" && this.board?.see());
    this.board = new Board({ session: () => this.page?.id ?? "", own, say: (t) => this.page.say(t), problem: (p) => this.page.problem(p), announce: (t) => this.page.announce(t), inChat: (id) => this.inChat(id), waits: (asks) => this.waits(asks), beside: (text) => this.beside(text) });
    this.layout.areas.board.append(...this.board.parts);
    document.body.append(this.layout.element);
    // While the chat is made, page isn't set yet: what it tells meanwhile is read afterwards.
    this.page = new Page(config, { place: this.layout.areas.chat, sheet: "all", on: { show: () => this.show(), changed: () => this.changed(), key: (e) => this.key(e) } });
    const tops = [own.goless ? h("div", { class: "bar goless", role: "alert" }, icon("warning"), h("span", {}, h("b", {}, sentence(own.goless)), " ", words.golessHelp)) : "", this.page.bar];
    document.body.prepend(h("div", { class: "tops" }, tops));
    this.own = own;
    this.page.status.addEventListener("click", () => this.asks.length > 0 && this.toBoard(this.asks[0].id));
    this.layout.show(this.layout.name, false);
    this.show();
    if (first) this.begin(first);
  }

  // begin has the first message begin the conversation of the terminal, or opens that if somebody types there first.
  begin(first) {
    const { page } = this;
    const look = setInterval(async () => {
      if (!document.hidden && !page.id && (await exists(first))) page.open(first);
      if (page.id) over();
    }, 2000);
    const over = () => (clearInterval(look), delete page.send);
    page.send = (message, ...more) => {
      over();
      return page.send(page.id ? message : { ...message, key: first }, ...more);
    };
  }

  // show is called when another session is opened.
  show() {
    if (!this.page) return;
    this.opened = undefined;
    this.changed();
    const blank = this.page.holder.querySelector(".blank");
    if (blank && !this.page.id) blank.append(...notices(this.own));
  }

  // changed is called when something has changed in the session.
  changed() {
    if (!this.page) return;
    const session = this.page.stream && !this.page.gone ? this.page.id : "";
    if (session !== this.opened) {
      this.opened = session;
      this.source?.close();
      this.board.clear();
      this.source = new Source(session, { parts: (parts, whole) => this.board.apply(parts, whole), lost: (yes) => yes && this.page.stream?.source?.readyState !== 1 && this.page.connected(false) });
    }
    this.collapse();
  }

  // waits gets what waits for a decision at the board.
  waits(asks) {
    this.asks = asks;
    this.layout.waiting(asks.length);
    if (this.page) this.collapse();
  }

  // beside says that something has happened beside the plan, if that can't be seen.
  beside(text) {
    if (!this.layout.areas.board.checkVisibility()) this.page.toast(text, words.see, () => this.layout.show("board"), 8000);
  }

  // collapse shows in the chat one line for what is decided at the board.
  collapse() {
    const here = new Map(this.asks.filter((a) => a.kind !== "other").map((a) => [a.id, a]));
    for (const [id, view] of this.page.conversation.views) {
      const { element } = view;
      if (!view.choose) continue; // it is no decision
      const card = element.querySelector(":scope > .card");
      const there = here.has(id) && Boolean(card);
      element.classList.toggle("there", there);
      const line = element.querySelector(":scope > .see");
      if (there && !line) element.append(h("div", { class: "see" }, icon("question"), h("span", {}, words.asked(here.get(id)) || card.querySelector("h2").textContent), button(words.seeBoard, () => this.toBoard(id))));
      if (!there) line?.remove();
    }
  }

  toBoard(id) {
    this.layout.show("board");
    this.board.go(id);
  }

  inChat(id) {
    this.layout.show("chat");
    this.page.conversation.views.get(id)?.focus?.();
  }

  // key handles the shortcuts of this page, and returns whether it was one.
  key(event) {
    if (!event.altKey) return false;
    const area = { Digit1: "chat", Digit2: "board" }[event.code];
    if (area) {
      this.layout.show(area);
      (area === "chat" ? this.layout.areas.chat.querySelector(".composer textarea") : this.board.heading).focus();
    } else if (event.key === "ArrowUp" && this.asks.length > 0) {
      this.toBoard(this.asks[0].id);
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }
}

// exists reports whether there is a conversation.
async function exists(session) {
  try {
    return (await api.sessions("")).sessions.some((s) => s.session === session);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return true; // the page says what is wrong
  }
}

const own = fetch("team/config").then((answer) => answer.json()).catch(() => ({}));
const wanted = new URLSearchParams(location.search).get("session");
const there = wanted === "main" ? exists(wanted) : true;
start(async (config) => {
  const known = await own;
  const first = (await there) ? "" : wanted;
  if (first) history.replaceState(null, "", location.pathname);
  document.getElementById("first").remove();
  new Team(config, known, first);
  performance.mark("ready");
});
