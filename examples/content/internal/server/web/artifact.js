// The page of an article: its text, and what can be done with it.

import { add, button, h, icon, iconButton, trusted } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { whenReleased } from "/agent/page/steady.js";
import { api, Problem } from "./api.js";
import { errorCard } from "./cards.js";
import { actions, confirmed, facts, nextLabel, title } from "./head.js";
import { progress, stopped } from "./progress.js";
import { proposal } from "./proposal.js";
import { parts, SelectionBar } from "./selection.js";
import { footnotes, outlined, past, sources } from "./sources.js";
import { versions } from "./versions.js";
import { words } from "./words.js";

// label is what a control is called: what is shown again keeps its focus by it.
const label = (el) => el.getAttribute("aria-label") ?? el.textContent;

// redraw shows a part again if what it shows has changed. Otherwise what is marked, scrolled, or just being pressed there stays.
function redraw(el, key, make) {
  const text = JSON.stringify(key);
  if (el.key === text) return;
  el.key = text;
  el.replaceChildren(...make().filter(Boolean));
}

export class ArtifactPage {
  constructor(host, id) {
    Object.assign(this, { host, id, tab: "text", accepted: "" });
    this.head = h("div", { class: "head article-head" });
    this.work = h("div", { class: "work" });
    this.tabs = h("div", { class: "article-tabs", role: "tablist", "aria-label": "Parts of the article" });
    this.body = h("div", { class: "article-body" });
    this.bar = new SelectionBar(this);
    this.element = h("main", { class: "view", id: "main" }, this.head, this.work, this.tabs, this.body);
  }

  async load() {
    const path = `/api/artifacts/${this.id}`, mine = (this.serial = (this.serial ?? 0) + 1);
    const [a, { research }, { history }, { versions }] = await Promise.all([api("GET", path), api("GET", `${path}/research`), api("GET", `${path}/history`), api("GET", `${path}/versions`)]);
    if (mine !== this.serial && this.a) return this.element; // a later request has begun, or has even been answered
    if (this.problem?.category === "NETWORK") this.problem = null; // the server is back
    Object.assign(this, { research: research ?? [], history: history ?? [], versions: versions ?? [] });
    this.take(a, true);
    clearTimeout(this.timer);
    if (this.working() && !this.left) this.timer = setTimeout(() => this.refresh(), 1000);
    return this.element;
  }

  // take shows the article as the server has answered with it. What was edited meanwhile stays.
  take(a, loaded) {
    this.a = a;
    if (a.pipeline?.state === "running") this.pressed = true;
    if (loaded) this.editor?.loaded(a);
    this.show();
  }

  // refresh loads again what is shown. What fails now is tried again later.
  async refresh() {
    try {
      await this.load();
    } catch (problem) {
      if (problem.status === 401) return location.assign("/login");
      if (problem.category === "NETWORK") this.problem = problem;
      if (this.a) this.show();
      clearTimeout(this.timer);
      if (!this.left) this.timer = setTimeout(() => this.refresh(), 2000);
    }
  }

  // leave ends the page. With a path, it returns false while text isn't saved; it goes there when it is, or when that is given up.
  leave(path) {
    const { editor } = this;
    if (editor?.dirty && path) {
      editor.save().then((done) => (done ? this.host.go(path) : confirmed("Leave without saving?", "Your last changes aren’t saved. They stay in this browser, and the editor shows them when you open it again.", "Leave", () => (this.leave(), this.host.go(path)))));
      return false;
    }
    editor?.keep();
    editor?.save();
    this.left = true;
    clearTimeout(this.timer);
    editor?.close();
    this.editor = null;
    this.bar.end.abort();
    return true;
  }

  working() {
    return this.a.pipeline?.state === "running";
  }

  screen() {
    const { id, type, title, status } = this.a;
    return { currentPage: "artifact", artifactId: id, artifactType: type, artifactTitle: title, artifactStatus: status };
  }

  // tried runs what changes the article, once all is saved, and shows what is then. It may fail.
  async tried(run) {
    if (this.editor && !(await this.editor.save())) return;
    Object.assign(this, { problem: null, again: () => this.tried(run) });
    try {
      await run(`/api/artifacts/${this.id}`);
    } catch (problem) {
      this.problem = Object.assign(problem, { recoveryOptions: [] }); // those are for the chat
    }
    await this.refresh();
  }

  // act does something that needs no assistant.
  act(name) {
    return this.tried((path) => api("POST", `${path}/${name}`));
  }

  // change saves the title, the tone or the tags.
  change(what) {
    return this.tried(async (path) => this.take(await api("PATCH", path, what)));
  }

  restore(number) {
    return this.tried((path) => api("POST", `${path}/versions/${number}/restore`, {}));
  }

  // propose asks for a change of the text, which is shown as a proposal.
  async propose(edit, label) {
    if (this.asking) return;
    this.accepted = "";
    await this.tried(async (path) => {
      this.asking = label;
      this.show();
      this.element.scrollTo({ top: 0 });
      await api("POST", `${path}/proposals`, edit).finally(() => (this.asking = ""));
    });
    this.work.querySelector("h2")?.focus();
  }

  show() {
    whenReleased(this.element, () => this.draw());
  }

  draw() {
    if (this.left) return; // another page is shown
    const { a } = this, focused = document.activeElement, name = this.element.contains(focused) && label(focused);
    document.title = `${a.title} · ${words.brand}`;
    const [last, before] = this.versions, editing = Boolean(this.editor);
    if (!focused?.matches(".article-head input")) redraw(this.head, [a.title, a.status, a.tone, a.tags, a.humanity, a.content.includes("[IMAGE: "), a.pipeline?.state, editing], () => [title(this), actions(this), facts(this)]);
    redraw(this.work, [a.pipeline, a.status, a.proposal, this.pressed, this.problem?.message, this.asking, this.accepted, last?.number, last?.author, before?.number, editing], () => [progress(this), this.failure(), proposal(this)]);
    const tabs = [["text", "Text", null], ["sources", "Sources", this.research.length], ["versions", "Versions", this.versions.length], ["history", "History", null]];
    redraw(this.tabs, [this.tab, tabs], () => tabs.map(([name, label, n], i) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "data-tab": name, "aria-selected": String(this.tab === name), "aria-controls": "article-panel", tabIndex: this.tab === name ? 0 : -1, onclick: () => this.open(name), onkeydown: (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (step) this.open(tabs[(i + step + tabs.length) % tabs.length][0], true);
    } }, label, n ? h("span", { class: "muted" }, ` ${count(n)}`) : null)));
    this.panel();
    if (name && !focused.isConnected) [...this.element.querySelectorAll("button, a, select, summary")].find((e) => label(e) === name)?.focus({ preventScroll: true });
    this.host.screenChanged();
  }

  open(tab, focus) {
    this.tab = tab;
    this.show();
    this.reveal();
    if (focus) document.getElementById(`tab-${tab}`).focus();
  }

  // reveal scrolls to the chosen tab if it is opened below what can be seen, for example below a proposal.
  reveal() {
    const view = this.element.getBoundingClientRect();
    if (this.body.getBoundingClientRect().top > view.top + view.height / 2) this.tabs.scrollIntoView({ block: "start" });
  }

  // panel shows the chosen tab. The editor stays as it is while it is open.
  panel() {
    if (this.tab === "text" && this.editor) {
      return redraw(this.body, "editor", () => [h("div", { role: "tabpanel", id: "article-panel", "aria-labelledby": "tab-text" }, this.editor.element), this.bar.element]);
    }
    const make = { text: () => this.text(), sources, versions, history: past }[this.tab];
    redraw(this.body, [this.tab, this.a.updatedAt, this.a.html, this.a.pipeline, this.research.length, this.versions[0], this.history.length], () => [h("section", { class: "panel text", role: "tabpanel", id: "article-panel", "aria-labelledby": `tab-${this.tab}` }, make(this)), this.bar.element]);
  }

  async say(message) {
    await this.stopEditing();
    Object.assign(this, { pressed: true, accepted: "" });
    return this.tried(() => this.host.say(message));
  }

  failure() {
    const p = this.a.pipeline, halted = stopped(this);
    if (halted) return halted;
    const problem = this.problem ?? (p?.state === "failed" && !["ready", "published", "archived"].includes(this.a.status) ? new Problem(200, { category: "TOOL_EXECUTION_FAILED", message: `${words.tools[p.failed]?.[0] ?? p.failed} failed${(p.reason ?? "").startsWith("The step failed") ? "" : `: ${p.reason.replace(/\.$/, "")}`}. The article is as it was before that step, and what was finished isn’t done again.`, traceId: p.traceId, recoveryOptions: [{ label: `Try again from ${words.results[p.failed] ?? "there"}`, message: "Try again" }] }) : null);
    if (!problem) return null;
    const card = errorCard(problem, (message) => this.say(message), this.problem && this.again);
    if (this.problem) card.append(iconButton("close", "Close this message", () => ((this.problem = null), this.show()), { class: "icon-button close-card" }));
    return card;
  }

  text() {
    const { a } = this, now = this.working() && a.pipeline.progress;
    const live = now?.written ? h("section", { class: "prose streaming live", "aria-label": "Being written", "data-testid": "live" }, h("div", { class: "block" }, now.written.split(/\n{2,}/).map((p) => h("p", {}, p)))) : null;
    if (!a.content) {
      return live ?? h("div", { class: "empty", "data-testid": "artifact-content" }, icon("pen", 28), h("p", {}, this.working() ? "The text appears here as it is written." : a.status === "draft" ? `There is no text yet. “${nextLabel(this)}” researches, outlines, writes, revises and illustrates it. Or write it yourself.` : `There is no text yet. “${nextLabel(this)}” makes it. Or write it yourself.`), this.working() || a.status === "archived" ? null : button("Write it myself", () => this.edit()));
    }
    const article = h("article", { class: "prose", "data-testid": "artifact-content", tabIndex: -1 }, trusted(h("div", { class: "block" }), a.html));
    const comes = outlined(article), menus = comes ? [] : parts(this, article);
    if (live && comes) comes.replaceWith(live);
    return [live && !comes ? live : null, article, footnotes(this, article), menus];
  }

  async edit() {
    const { Editor } = await import("./editor.js");
    this.editor ??= new Editor(this);
    this.tab = "text";
    this.show();
    this.editor.area.setSelectionRange(0, 0);
    this.editor.area.focus({ preventScroll: true });
    this.reveal();
  }

  // stopEditing closes the editor once all is saved.
  async stopEditing() {
    if (!this.editor || !(await this.editor.save())) return;
    this.editor.close();
    this.editor = null;
    await this.refresh();
  }
}
