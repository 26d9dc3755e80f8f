// The chat beside every page: that of package agent/serve, with the conversations of the user on the server.

import { named, words } from "./words.js"; // first: it changes words of the chat
import { api as agent, newID } from "/agent/page/api.js";
import { button, h, icon, iconButton, remembered } from "/agent/page/dom.js";
import { user } from "/agent/page/messages.js";
import { Page } from "/agent/page/page.js";
import { splitter } from "/agent/page/shell.js";
import { texts } from "/agent/page/texts.js";
import { Answer, Step } from "./answer.js";
import { api, expired } from "./api.js";

const least = 320; // pixels

export class Chat {
  // host has user, session, go(path), edit(id), refresh() and chatChanged().
  constructor(host, config) {
    Object.assign(this, { host, name: host.session, answers: new Map(), yes: new Map() });
    this.element = h("aside", { class: "chat", id: "assistant", "aria-label": words.assistant });
    this.element.append(splitter(this.element, words.width, -1, (n) => this.size(n)));
    this.size(Number(remembered.get("content.width")) || 0);
    if (/stand-in/i.test(host.model)) texts.emptyText += ` ${words.standinEmpty}`;
    const page = new Page(config, {
      place: this.element, sheet: "all", beside: true,
      on: { show: () => this.answers.clear(), changed: () => this.changed(), item: (item) => this.view(item), name: () => this.name, headers: () => ({ "X-Content-Screen": location.pathname }), key: (e) => this.key(e) },
    });
    this.page = page;
    const { open, failed, send } = Object.getPrototypeOf(page);
    page.open = (session) => (session ? open.call(page, session) : this.fresh());
    page.entitle = (waiting) => this.entitle(waiting);
    page.failed = (problem) => (problem.status === 401 ? expired() : failed.call(page, problem));
    page.send = (message) => {
      this.asked = true;
      this.answering = { to: page.model.asked().map((i) => i.id), text: named(message.text) };
      return send.call(page, message, named(message.text)).catch((problem) => {
        if (problem.status === 401) setTimeout(expired); // the text is a draft by then
        throw problem;
      });
    };
    const { row } = Object.getPrototypeOf(page.sidebar);
    page.sidebar.row = (s) => row.call(page.sidebar, { ...s, title: named(s.title ?? "") });
    page.composer.text.dataset.testid = "chat-input";
    this.element.querySelector(".top").append(iconButton("plus", texts.newChat, () => this.fresh()), iconButton("close", words.closeAssistant, () => host.toggleChat(false), { class: "icon-button away" }));
    document.body.append(page.help, page.undoing.element, page.toasts.element); // also seen where the chat isn't
    page.refresh();
  }

  view(item) {
    if (item.kind === "user") Object.assign(item, { by: "", text: named(item.text ?? "") }); // nobody else writes here
    if (item.kind !== "call") return null;
    const view = item.name === "structuredResponse" ? new Answer(item, this) : new Step(item, this);
    if (view instanceof Answer) this.answers.set(item.id, view);
    return view;
  }

  get running() {
    return this.page.model.state.status === "running";
  }

  // say sends a message, as the buttons of the pages do. A second click sends nothing; an answer that is about to end is waited for.
  async say(text) {
    if (text === this.last && (this.sending || Date.now() - this.at < 1000)) return;
    if (this.sending) return void this.page.toast(words.busy);
    Object.assign(this, { sending: true, last: text, at: Date.now() });
    try {
      for (let i = 0; i < 20 && this.running; i++) await new Promise((ok) => setTimeout(ok, 100));
      if (this.running) this.page.toast(words.busy);
      else await this.page.composer.send({ text, files: [], key: newID() });
    } finally {
      this.sending = false;
    }
  }

  // fresh begins a new conversation.
  async fresh() {
    const { page } = this, made = await api("POST", "/api/content-agent/reset", {}).catch((problem) => problem);
    if (made.status === 0) return page.problem(made);
    this.name = made.session ?? ""; // its first message names it
    Object.getPrototypeOf(page).open.call(page, "");
  }

  changed() {
    const { page } = this;
    if (!page) return;
    const items = [...page.model.items.values()];
    // A message that answers what the assistant asks is a decision: it is shown above what it decides.
    const decided = this.answering?.to.find((id) => !["superseded", undefined].includes(page.model.items.get(id)?.decision?.kind));
    if (decided) {
      page.arrived({ text: this.answering.text });
      this.yes.set(decided, this.answering.text);
      this.answering = null;
    }
    for (const { id, decision } of items) {
      const text = decision && (decision.reason || this.yes.get(id)), el = text && page.conversation.views.get(id)?.element;
      if (el && !el.querySelector(".user")) el.prepend(user({ text: named(text), time: decision.time }));
    }
    for (const item of page.model.asked()) this.card(page.conversation.views.get(item.id), item.pause);
    this.requests();
    const last = items.findLastIndex((i) => i.kind === "user");
    this.follow(items.slice(last + 1).findLast((i) => i.name === "createDraft" && i.status === "ok"));
    for (const [id, view] of this.answers) view.current(!this.running && items.findIndex((i) => i.id === id) > last);
    const state = `${page.id} ${page.model.state.status} ${items.filter((i) => i.kind === "call").map((i) => i.status)}`;
    if (state !== this.state && page.settled) this.host.refresh();
    this.state = state;
    this.host.chatChanged(page.model.asked().length > 0 ? "waits" : this.running ? "works" : "");
  }

  // requests makes buttons of the items of a list that are only a code span: requests, of which those that are one word are sent. In the others somebody
  // may have other words in mind.
  requests() {
    const { composer } = this.page;
    let turn = null;
    for (const code of this.element.querySelectorAll(".part .prose:not(.streaming) li > code:only-child")) {
      const text = code.textContent;
      if (code.parentElement.textContent.trim() !== text) continue;
      turn = code.closest(".turn");
      const whole = /^\w+$/.test(text), fill = () => (composer.fill(text, composer.attached), composer.focus());
      code.replaceWith(button([h("span", {}, text), icon(whole ? "send" : "pen", 14)], whole ? () => this.say(text) : fill, "request", { title: whole ? words.sendIt : words.fillIn }));
    }
    if (turn) requestAnimationFrame(() => requestAnimationFrame(() => this.begin(turn))); // it has its height by then
  }

  // begin shows the beginning of a list that is longer than the view, with the message that asked for it.
  begin(turn) {
    const { follower, scroller } = this.page;
    if (turn.nextElementSibling || !follower.following || turn.offsetHeight < scroller.clientHeight) return;
    follower.following = false;
    scroller.scrollTop += turn.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 88;
  }

  // follow goes to the article that was made because somebody has asked for it here.
  follow(made) {
    const id = made && this.asked && made.id !== this.followed && /"artifact":\s*\{\s*"id":\s*"([0-9a-f-]{36})"/.exec(made.result ?? "")?.[1];
    if (!id) return;
    this.followed = made.id;
    if (this.host.screen().artifactId !== id) this.host.go(`/artifacts/${id}`);
  }

  // card leaves out what a call runs with: its title and its preview say it in words. Its button says what it does.
  card(view, { title }) {
    const verb = /^(Publish|Archive)\b/.exec(title)?.[0], yes = view?.area?.querySelector(".buttons .button");
    if (verb && yes?.textContent === texts.ask.approve) yes.textContent = `Yes, ${verb.toLowerCase()} it`;
    for (const el of view?.facts?.querySelectorAll(":scope > .facts, :scope > .raw, :scope > p:first-child") ?? []) el.remove();
  }

  entitle(waiting) {
    const { page } = this;
    const own = page.model.state.title || page.sidebar.find(page.id)?.title || page.conversation.firstText();
    page.heading.textContent = page.heading.title = named(own || (page.id ? texts.untitled : texts.newChat));
    this.host.entitle(waiting);
    return own;
  }

  key(event) {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key === "Escape" && this.element.contains(event.target) && !event.target.closest(".open, form.edit, .card")) return this.host.escape();
    if (event.key === "/" && !typing && !this.element.checkVisibility() && !document.querySelector("main input[type=search]")) return true;
    const search = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && document.querySelector("main input[type=search]");
    if (!search) return false;
    event.preventDefault();
    search.focus();
    return true;
  }

  // size sets the width beside the page in pixels; 0 is its own.
  size(pixels) {
    const wide = pixels && Math.round(Math.max(least, Math.min(pixels, innerWidth - 640)));
    document.documentElement.style.setProperty("--width-chat", wide ? `${wide}px` : null);
    remembered.set("content.width", wide ? String(wide) : "");
  }
}

// modelBadge says which model writes, and more when it is opened.
export function modelBadge(note) {
  const standin = /stand-in/i.test(note), name = standin ? words.standin.name : words.realTitle(note);
  const dialog = h("dialog", { "aria-labelledby": "model-title" }, h("h2", { id: "model-title" }, standin ? words.standin.title : name),
    h("div", { class: "stack" }, standin ? [words.standin.text.map((t) => h("p", {}, t)), h("pre", { class: "data", tabIndex: 0 }, words.standin.command), h("p", {}, words.standin.more)] : h("p", {}, words.realText), h("div", {}, button(texts.close, () => dialog.close(), "primary"))));
  return note ? [h("button", { type: "button", class: "model", "data-testid": "model", "aria-haspopup": "dialog", onclick: () => dialog.showModal() }, icon("info", 14), h("span", {}, name)), dialog] : null;
}
