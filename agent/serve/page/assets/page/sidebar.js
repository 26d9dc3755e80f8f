// The list of sessions: find, open, rename, delete with undo.

import { api } from "./api.js";
import { button, h, icon, iconButton, logo } from "./dom.js";
import { timeOf } from "./messages.js";
import { whenReleased } from "./steady.js";
import { texts } from "./texts.js";

const undoTime = 6000;

export class Sidebar {
  // app has open(session), session(), toast(text, action, run) and problem(problem).
  constructor(app, config, themeButton, help) {
    Object.assign(this, { app, list: [], next: "", deleting: new Map(), titles: new Map() });
    this.box = h("ul", { class: "sessions", "aria-label": texts.chats });
    this.box.tabIndex = -1;
    this.query = h("input", { class: "input", type: "search", placeholder: texts.searchChats, "aria-label": texts.searchChats, oninput: () => this.show() });
    this.hide = iconButton("sidebar", texts.hideMenu, () => app.toggleMenu());
    this.element = h(
      "div",
      { class: "sidebar", id: "sidebar", role: "navigation", "aria-label": texts.chats },
      h("div", { class: "brand" }, h("img", { src: logo, alt: "" }), h("span", { class: "name" }, config.title), this.hide),
      h("div", { class: "tools" }, button([icon("plus"), texts.newChat], () => app.open(""), ""), h("div", { class: "search" }, icon("search"), this.query)),
      this.box,
      h("div", { class: "foot" }, h("span", { class: "who", title: config.user }, config.user), help, themeButton),
    );
    addEventListener("pagehide", () => {
      for (const [session, pending] of this.deleting) {
        clearTimeout(pending.timer);
        api.delete(session, true).catch(() => {});
      }
    });
  }

  // load asks the server for the list. Several requests in a short time are one.
  load(soon = 0) {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        const page = await api.sessions("");
        // What "Show more" has added stays.
        const known = new Set(page.sessions.map((s) => s.session));
        const older = this.paged ? this.list.filter((s) => !known.has(s.session)) : [];
        // The title of a new session is set while it works, maybe later.
        for (const s of page.sessions) s.title ||= this.titles.get(s.session);
        this.list = [...page.sessions, ...older];
        if (!this.paged) this.next = page.next;
        this.loaded = true;
        this.show();
      } catch {
        // The bar says that the connection is lost; the next change loads it again.
      }
    }, soon);
  }

  async more() {
    try {
      const page = await api.sessions(this.next);
      this.paged = true;
      this.list.push(...page.sessions);
      this.next = page.next;
      this.show();
    } catch (problem) {
      this.app.problem(problem);
    }
  }

  find(session) {
    return this.list.find((s) => s.session === session);
  }

  // note changes what the list shows of a session without asking the server.
  note(session, change) {
    if (change.title) this.titles.set(session, change.title);
    const known = this.find(session);
    if (!known) return this.load(300);
    if (Object.entries(change).every(([k, v]) => known[k] === v)) return;
    Object.assign(known, change);
    this.show();
  }

  show() {
    whenReleased(this.box, () => this.draw());
  }

  draw() {
    if (this.renaming) return;
    const wanted = this.query.value.trim().toLocaleLowerCase();
    const seen = this.list.filter((s) => !this.deleting.has(s.session) && (s.title || texts.untitled).toLocaleLowerCase().includes(wanted));
    const focused = document.activeElement?.closest?.(".session")?.dataset.session;
    const rows = [];
    let heading = "";
    for (const s of seen) {
      const name = age(s.updated);
      if (name !== heading) rows.push(h("li", { class: "heading" }, texts.days[(heading = name)]));
      rows.push(this.row(s));
    }
    if (rows.length === 0 && this.loaded) rows.push(h("li", { class: "none" }, wanted ? texts.noMatch : texts.noChats));
    if (this.next && !wanted) rows.push(h("li", {}, button(texts.more, () => this.more(), "quiet")));
    this.box.replaceChildren(...rows);
    if (focused) this.box.querySelector(`[data-session="${CSS.escape(focused)}"] a`)?.focus();
  }

  row(s) {
    const title = s.title || texts.untitled;
    const current = s.session === this.app.session();
    const status = s.pending > 0 ? "paused" : s.status;
    const onclick = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.app.open(s.session);
    };
    return h(
      "li",
      { class: current ? "session current" : "session", "data-session": s.session },
      h(
        "a",
        { href: `?session=${encodeURIComponent(s.session)}`, onclick, "aria-current": current ? "page" : null },
        h("span", { class: "title", title }, title),
        h("span", { class: "meta" }, h("span", { class: `dot ${status}` }), h("span", {}, texts.status[status] ?? status), timeOf(new Date(s.updated))),
      ),
      h("div", { class: "actions" }, iconButton("pen", `${texts.rename}: ${title}`, () => this.rename(s.session)), iconButton("bin", `${texts.delete}: ${title}`, () => this.delete(s))),
    );
  }

  // rename puts a field in the place of the title.
  rename(session) {
    const s = this.find(session);
    const row = this.box.querySelector(`[data-session="${CSS.escape(session)}"]`);
    if (!s || !row) return;
    const field = h("input", { class: "input", value: s.title ?? "", "aria-label": texts.renameTo, maxLength: 200 });
    let over = false;
    const end = async (keep) => {
      if (over) return;
      over = true;
      const title = field.value.trim();
      this.renaming = false;
      this.show();
      this.box.querySelector(`[data-session="${CSS.escape(session)}"] a`)?.focus();
      if (!keep || !title || title === s.title) return;
      const before = s.title;
      this.note(session, { title });
      this.app.titled(session, title);
      try {
        await api.title(session, title);
      } catch (problem) {
        this.note(session, { title: before });
        this.app.titled(session, before);
        this.app.problem(problem);
      }
    };
    const form = h("form", { onsubmit: (e) => (e.preventDefault(), end(true)) }, field);
    field.addEventListener("blur", () => end(true));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      end(false);
    });
    this.renaming = true;
    row.replaceChildren(form);
    field.focus();
    field.select();
  }

  // delete hides a session at once, and deletes it when the time to undo is over.
  delete(s) {
    const was = this.app.session() === s.session;
    const timer = setTimeout(async () => {
      try {
        await api.delete(s.session);
        this.list = this.list.filter((x) => x !== s);
      } catch (problem) {
        this.app.problem(problem);
      }
      this.deleting.delete(s.session);
      this.load();
    }, undoTime);
    this.deleting.set(s.session, { timer });
    if (was) this.app.open("");
    this.show();
    const undo = () => {
      clearTimeout(timer);
      this.deleting.delete(s.session);
      this.show();
      if (was) this.app.open(s.session);
    };
    this.app.toast(texts.deleted(s.title || texts.untitled), texts.undo, undo, undoTime);
  }
}

// age says under which heading a time is.
function age(updated) {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  const days = (today - new Date(updated)) / 86_400_000;
  if (days <= 0) return "today";
  if (days <= 1) return "yesterday";
  return days <= 7 ? "week" : "older";
}
