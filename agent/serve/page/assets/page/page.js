// Puts the page together: which session is open, what is read from its stream, and what is sent.

import { Problem, Stream, api, newID } from "./api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { add, button, h, icon, iconButton, logo } from "./dom.js";
import { user } from "./messages.js";
import { Model } from "./model.js";
import { Follower, Menu, Toasts, help, themeButton } from "./shell.js";
import { Sidebar } from "./sidebar.js";
import { texts } from "./texts.js";
import { Undo } from "./undo.js";

// addressOf returns the address of a session: that of the page, with its other parameters.
function addressOf(session) {
  const params = new URLSearchParams(location.search);
  if (session) params.set("session", session);
  else params.delete("session");
  return `${location.pathname}${params.size > 0 ? `?${params}` : ""}`;
}

// A Page is the chat. A host's own page may put it into an element of its own, with the list of sessions as a sheet where a media query says so. beside
// says that the chat isn't the main part of that page. The host is told when another session is shown, when something in it has changed, and of keys:
// on.key returns whether it has handled one. on.item returns a view {element, update(item)} of an item that the host shows in its own way, or nothing;
// on.headers returns headers that go with each message, for Config.Input; on.name the id of a
// new session, or nothing.
export class Page {
  constructor(config, { place = document.body, sheet, beside = false, on = {} } = {}) {
    this.config = config;
    this.on = on;
    this.toasts = new Toasts();
    this.help = help();
    this.undoing = new Undo({ session: () => this.id, problem: (p) => this.problem(p), done: () => (this.follower.end(false), this.composer.focus()) });
    this.live = h("div", { class: "hidden-visually", "aria-live": "polite" });
    this.composer = new Composer(this, config);
    this.sidebar = new Sidebar(this, config, themeButton(), iconButton("keyboard", texts.shortcuts, () => this.help.showModal()));
    this.heading = h(beside ? "h2" : "h1", {});
    this.status = h("button", { type: "button", class: "status", hidden: true, onclick: () => this.conversation.firstOpen()?.focus() });
    this.pen = iconButton("pen", texts.rename, () => this.rename(), { hidden: true });
    this.bar = h("div", { class: "bar", role: "status", hidden: true }, icon("warning"), h("span", {}, texts.offline));
    this.holder = h("div", { class: "holder" });
    this.scroller = h("div", { class: "scroller", tabIndex: 0, role: "region", "aria-label": texts.conversation }, this.holder);
    this.follower = new Follower(this.scroller, this.holder);
    const top = h("header", { class: "top" }, iconButton("menu", texts.menu, () => this.toggleMenu(), { class: "icon-button menu", "aria-controls": "sidebar" }), h("div", { class: "name" }, this.heading, this.pen), this.status);
    const main = h(beside ? "div" : "main", { class: "main", id: beside ? "chat" : "main" }, top, this.bar, this.scroller, h("div", { class: "bottom" }, this.follower.jump, this.composer.element));
    this.app = h("div", { class: "app" }, this.sidebar.element, h("div", { class: "veil", onclick: () => this.menu.close() }), main);
    const skip = h("a", { class: "skip", href: "#main", onclick: (e) => (e.preventDefault(), this.scroller.focus()) }, texts.skip);
    add(place, beside ? null : skip, this.app, this.live, this.toasts.element, this.help, this.undoing.element);
    this.menu = new Menu(this.app, sheet);
    this.listen();
    this.show(new URLSearchParams(location.search).get("session") ?? "");
    this.sidebar.load();
  }

  listen() {
    addEventListener("popstate", () => {
      const session = new URLSearchParams(location.search).get("session") ?? "";
      if (session !== this.id) this.show(session);
    });
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("online", () => (this.stream ? this.stream.now() : this.connected(true)));
    addEventListener("offline", () => this.connected(false));
    document.addEventListener("visibilitychange", () => this.seen(!document.hidden));
    let seconds = 0;
    setInterval(() => {
      if (document.hidden) return Date.now() - this.asked >= 30_000 ? this.ask() : undefined;
      this.conversation?.tick(++seconds % 30 === 0);
      if (seconds % 30 === 0) this.sidebar.load();
    }, 1000);
  }

  // seen is called when the tab is hidden or seen again. A hidden one has no stream: it asks now and then whether something waits.
  seen(yes) {
    this.asked = Date.now();
    if (this.stream) this.model.heard = Infinity;
    if (!yes) return this.stream?.pause();
    this.stream?.resume();
    this.sidebar.load();
  }

  // ask asks whether something waits, and says so in the title.
  async ask() {
    this.asked = Date.now();
    const session = this.id;
    if (!session) return;
    try {
      const { pending } = await api.exists(session);
      if (document.hidden && session === this.id) this.entitle(pending.filter((p) => !p.for).length);
    } catch {
      // The next time may do, or the stream says what is wrong when the tab is seen.
    }
  }

  key(event) {
    if (this.on.key?.(event)) return;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (this.undoing.element.open) return;
    if (event.key === "Escape" && !this.help.open && this.menu.close()) return;
    if (event.altKey && event.code === "KeyN") {
      event.preventDefault();
      return this.open("");
    }
    if (event.altKey && event.key === "ArrowUp") {
      event.preventDefault();
      return this.conversation.firstOpen()?.focus();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (event.key === "/") {
      event.preventDefault();
      this.menu.reveal();
      this.sidebar.query.focus();
    } else if (event.key === "?") {
      this.help.showModal();
    }
  }

  // What the parts of the page need of it.
  session = () => this.id;
  say = (text) => this.toast(text);
  announce = (text) => (this.live.textContent = text);
  resume = () => api.continue(this.id).catch((p) => this.problem(p));
  write = (text) => this.composer.send({ text, files: [], key: newID() });
  goOn = () => this.write(texts.goOn);
  // retry sends a message again, in place of what came of it, or, if it was added while the agent worked, as a new one.
  retry = (item) => (item.fact ? this.replace(item, "").catch((p) => this.problem(p)) : this.write(item.text));
  problem = (p) => this.toast(p.message, texts.close, () => {}, 8000);
  toast = (...args) => this.toasts.show(...args);
  toggleMenu = () => this.menu.toggle();
  stop = () => api.stop(this.id);
  undo = () => this.undoing.open();
  // decided makes the view follow what the agent does next, if nothing else waits.
  decided = () => this.model.asked().length <= 1 && this.follower.end(true);
  reload = () => this.show(this.id);
  fixed = () => this.readOnly || this.gone;
  item = (item) => this.on.item?.(item);

  // replace sends a text in place of an earlier message; without a text, the same again. What followed goes. Effects that it has had can be undone
  // before. It returns whether the message was sent.
  async replace(item, text) {
    const { model } = this;
    const runs = new Set(model.changed(model.from(item.fact)).map((c) => c.group.replace(/\.\d+$/, "")));
    if (runs.size > 0 && model.asked().length === 0 && !(await this.undoing.open([...runs].reverse(), true))) return false;
    await this.send({ text, files: [], key: newID(), mode: this.composer.mode, replaces: item.fact }, text || item.text);
    return true;
  }

  // older shows older items above the others. What is in view stays in its place.
  async older() {
    const { conversation, id, model } = this;
    if (conversation.busy) return;
    conversation.busy = true;
    try {
      const answer = await api.older(id, model.state.older);
      if (conversation !== this.conversation) return;
      const first = conversation.items.firstElementChild;
      const before = first?.getBoundingClientRect().top;
      this.follower.following = false;
      conversation.prepend(answer);
      if (first) this.scroller.scrollTop += first.getBoundingClientRect().top - before;
      if (!answer.older) this.scroller.focus({ preventScroll: true });
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.problem(problem);
    } finally {
      conversation.busy = false;
    }
  }

  async mode(name) {
    if (!this.model.state.status) return; // it is new: its first message says it
    try {
      await api.mode(this.id, name);
    } catch (p) {
      if (p.code !== "idle") this.problem(p);
    }
  }

  // open goes to another session, and changes the address.
  open(session) {
    this.menu.close();
    if (session !== this.id || !session) {
      history.pushState(null, "", addressOf(session));
      this.show(session);
    }
    this.composer.focus();
  }

  // show shows a session from its beginning.
  show(session) {
    this.stream?.close();
    this.stream = null;
    this.id = session;
    this.readOnly = false;
    this.gone = false;
    this.pending = [];
    this.settled = false;
    this.model = new Model();
    this.conversation = new Conversation(this.model, this);
    this.composer.open(session);
    this.connected(true);
    this.sidebar.show();
    this.follower.following = true;
    clearTimeout(this.skeleton);
    if (session) {
      this.holder.replaceChildren(this.conversation.element);
      const conversation = this.conversation;
      this.skeleton = setTimeout(() => conversation.items.childElementCount || conversation.items.append(h("div", { class: "skeleton", "aria-label": texts.loading, role: "status" }, h("div"), h("div"), h("div"), h("div"))), 200);
      this.connect();
    } else {
      this.holder.replaceChildren(this.welcome());
    }
    this.on.show?.();
    this.refresh();
  }

  welcome() {
    const examples = this.config.examples.map((text) => h("button", { type: "button", onclick: () => this.write(text) }, h("span", {}, text), icon("chevron")));
    return h("div", { class: "blank" }, h("img", { src: logo, alt: "" }), h("h2", {}, texts.emptyTitle), h("p", {}, texts.emptyText), examples.length ? h("div", { class: "examples" }, examples) : null);
  }

  connect() {
    const conversation = this.conversation;
    this.stream = new Stream(this.id, {
      open: () => {
        this.connected(true);
        setTimeout(() => (this.settled = true), 500);
      },
      lost: () => this.connected(false),
      failed: (problem) => this.failed(problem),
      patches: (patches) => {
        if (conversation !== this.conversation) return;
        conversation.items.querySelector(":scope > .skeleton")?.remove();
        conversation.apply(patches, this.settled);
        this.takeBack();
        this.refresh();
      },
    }, document.hidden);
    if (document.hidden) this.asked = 0;
  }

  connected(yes) {
    if (yes && this.composer.trouble.textContent === texts.problem.network) this.composer.complain();
    if (yes && this.lost) this.sidebar.load(200);
    this.lost = !yes;
    this.model.heard = yes ? Date.now() : Infinity;
    clearTimeout(this.barTimer);
    if (yes) this.bar.hidden = true;
    else this.barTimer = setTimeout(() => (this.bar.hidden = false), 800);
  }

  // failed shows that the session can't be read.
  failed(problem) {
    this.connected(true);
    clearTimeout(this.skeleton);
    const text = texts.failed[problem.code] ?? texts.failed.other;
    const again = problem.code === "unknown" ? null : button(texts.retry, () => this.show(this.id));
    this.holder.replaceChildren(h("div", { class: "blank", role: "alert" }, icon("warning", 32), h("h2", {}, texts.failedTitle), h("p", {}, text), h("div", { class: "buttons" }, again, button(texts.newChat, () => this.open(""), "primary"))));
    this.gone = true;
    this.refresh();
  }

  // refresh shows what the state of the session is, everywhere.
  refresh() {
    const { state } = this.model;
    const open = this.model.asked().length;
    const status = open > 0 ? "paused" : state.status;
    const own = this.entitle(open);
    this.pen.hidden = !this.id || !state.status;
    this.status.hidden = !status;
    this.status.disabled = open === 0;
    this.status.title = open > 0 ? texts.showDecision : "";
    if (status && this.status.dataset.status !== status) {
      this.status.dataset.status = status;
      this.status.replaceChildren(h("span", { class: `dot ${status}` }), texts.status[status] ?? status);
    }
    this.composer.set({ running: state.status === "running", paused: open > 0, readOnly: this.readOnly, gone: this.gone, mode: state.mode });
    if (this.id && state.status) this.sidebar.note(this.id, { status: state.status, pending: open, title: own });
    this.on.changed?.();
  }

  // entitle shows the title, with how many decisions wait. It returns the chat's own title, if it has one.
  entitle(waiting) {
    const own = this.model.state.title || this.sidebar.find(this.id)?.title || this.conversation.firstText();
    const title = own || (this.gone ? texts.noChat : this.id ? texts.untitled : texts.newChat);
    this.heading.textContent = title;
    document.title = this.id ? `${waiting > 0 ? `(${waiting}) ` : ""}${title} · ${this.config.title}` : this.config.title;
    return own;
  }

  titled(session, title) {
    if (session !== this.id) return;
    this.model.state.title = title;
    this.refresh();
  }

  rename() {
    this.menu.reveal();
    this.sidebar.rename(this.id);
  }

  // send sends a message, in a new session if none is open. Until it is part of the conversation, it is shown as being sent.
  async send(message, shown = message.text) {
    const fresh = !this.id;
    if (fresh) {
      const draft = this.composer.draft;
      this.id = this.on.name?.() || message.key; // if the answer is lost, the same message goes to the same session again
      history.pushState(null, "", addressOf(this.id));
      this.composer.draft = draft.replace(/new$/, this.id);
      this.holder.replaceChildren(this.conversation.element);
      this.settled = true;
    }
    const { id, conversation } = this;
    const waits = this.model.state.status === "running"; // it may be that the run reads it
    const element = user({ text: shown, files: message.files.map(({ name, type, size }) => ({ name, type, size })) }, waits ? texts.waitsToBeRead : texts.sending);
    element.querySelector(".bubble")?.classList.add("sending");
    const pending = { text: shown ?? "", element, waits };
    this.pending.push(pending);
    conversation.sending.append(element);
    this.follower.end(false);
    try {
      const files = message.files.map(({ name, type, data }) => ({ name, type, data }));
      const answer = await api.send({ session: id, text: message.text, files, mode: message.mode, key: message.key, supersede: message.supersede, replaces: message.replaces }, this.on.headers?.());
      if (answer.repeated) this.arrived(pending);
      pending.unread = pending.waits && answer.steered;
      if (conversation === this.conversation) this.takeBack();
      if (conversation === this.conversation && !this.stream) this.connect();
      this.sidebar.load(300);
    } catch (problem) {
      element.remove();
      this.pending = this.pending.filter((p) => p !== pending);
      if (conversation !== this.conversation) throw problem;
      if (fresh) {
        history.replaceState(null, "", addressOf(""));
        this.show("");
      }
      if (problem instanceof Problem && problem.code === "forbidden" && !fresh) {
        this.readOnly = true;
        this.refresh();
      }
      throw problem;
    }
  }

  // takeBack puts messages back into the field that a run was sent and hasn't read before it was stopped: no other run reads them.
  takeBack() {
    const { status, code } = this.model.state;
    const dropped = status === "stopped" && code !== "superseded" ? this.pending.filter((p) => p.unread) : [];
    if (dropped.length === 0) return;
    this.pending = this.pending.filter((p) => !p.unread);
    for (const p of dropped) p.element.remove();
    this.composer.putBack(dropped.map((p) => p.text));
  }

  // arrived ends showing that a message is being sent.
  arrived = (item) => {
    const i = this.pending.findIndex((p) => p.text === (item.text ?? ""));
    if (i >= 0) this.pending.splice(i, 1)[0].element.remove();
  };
}

// start asks the server what the page needs to know, and makes the page.
export async function start(make) {
  try {
    make(await api.config());
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const text = texts.failed[problem.code] ?? problem.message;
    document.body.append(h("main", { class: "blank" }, icon("warning", 32), h("h1", {}, texts.failedTitle), h("p", {}, text), h("div", { class: "buttons" }, button(texts.retry, () => location.reload(), "primary"))));
  }
}
