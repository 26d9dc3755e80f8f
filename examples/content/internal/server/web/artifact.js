// The page of an artifact: its text, what was found for it, and what the agent does with it.

import { add, button, h, icon, trusted } from "/agent/page/dom.js";
import { count, exactly, when } from "/agent/page/format.js";
import { api, ask, Problem } from "./api.js";
import { badge, errorCard, field, panel, toneSelect } from "./cards.js";
import { proposal, versions } from "./versions.js";
import { statusName, toolName, words } from "./words.js";

const order = ["draft", "research", "skeleton", "writing", "creating_visuals", "ready", "published"];

// The status after which a tool of a pipeline is done, and the name of its step.
const reached = { topicResearch: ["research", "research"], skeletonCreator: ["skeleton", "skeleton"], contentWriter: ["creating_visuals", "writing"], humanizer: ["ready", "humanizing"], visualsCreator: ["ready", "creating_visuals"] };

// The statuses in which a failed tool can be tried again.
const needs = { topicResearch: ["draft"], skeletonCreator: ["research"], contentWriter: ["skeleton", "writing"], humanizer: ["writing", "creating_visuals", "ready"], visualsCreator: ["writing", "creating_visuals", "ready"] };
const whole = ["topicResearch", "skeletonCreator", "contentWriter", "humanizer", "visualsCreator"];

export class ArtifactPage {
  constructor(host, id) {
    Object.assign(this, { host, id, ended: new Set() });
    this.head = h("div", { class: "head" });
    this.work = h("div", { class: "work" });
    this.body = h("section", { class: "panel text", "aria-label": "Text" });
    this.side = h("div", { class: "stack" });
    this.element = h("main", { class: "view", id: "main" }, this.head, this.work, h("div", { class: "two" }, this.body, this.side));
  }

  async load() {
    const path = `/api/artifacts/${this.id}`, mine = (this.serial = (this.serial ?? 0) + 1);
    const [a, { research }, { history }, { versions }] = await Promise.all([api("GET", path), api("GET", `${path}/research`), api("GET", `${path}/history`), api("GET", `${path}/versions`)]);
    if (mine !== this.serial && this.a) return this.element; // a later request has begun, or has even been answered
    const p = this.problem, now = a.pipeline?.state;
    if (p?.category === "NETWORK" || (!this.running && (now === "running" || (now === "completed" && a.pipeline.traceId === p?.traceId)))) this.problem = null; // the server is back, or the work went on
    Object.assign(this, { a, research: research ?? [], history: history ?? [], versions: versions ?? [] });
    this.show();
    clearTimeout(this.timer);
    if (this.working() && !this.left) this.timer = setTimeout(() => this.refresh(), 2000);
    return this.element;
  }

  // refresh loads again what is shown. What fails now is tried again later.
  async refresh() {
    try {
      await this.load();
    } catch (problem) {
      if (problem.status === 401) return this.host.go("/login");
      clearTimeout(this.timer);
      if (!this.left) this.timer = setTimeout(() => this.refresh(), 2000);
    }
  }

  leave() {
    this.left = true;
    clearTimeout(this.timer);
  }

  working() {
    return this.running || this.a.pipeline?.state === "running";
  }

  screen() {
    const { id, type, title, status } = this.a;
    return { currentPage: "artifact", artifactId: id, artifactType: type, artifactTitle: title, artifactStatus: status };
  }

  // run sends a message that makes the agent use tools on the artifact, and shows how far it is.
  async run(message, tools) {
    Object.assign(this, { running: true, problem: null, pressed: true, tools, again: () => this.run(message, tools) });
    this.ended.clear();
    this.show();
    try {
      const answer = await ask(message, this.screen(), (name, data) => {
        if (name !== "tool") return;
        if (data.state === "finished") this.ended.add(data.tool);
        this.refresh();
      });
      this.running = false;
      this.host.toast(answer.statusTransition ? `Done: ${statusName(answer.statusTransition.to)}` : "Done");
    } catch (problem) {
      this.running = false;
      this.problem = problem;
      this.show();
    }
    await this.refresh();
    this.host.changed();
  }

  async act(name) {
    this.again = () => this.act(name);
    try {
      if (name === "delete") {
        await api("DELETE", `/api/artifacts/${this.id}`);
        return this.host.go("/portfolio");
      }
      if (name === "cancel") await api("POST", "/api/content-agent/cancel", { artifactId: this.id });
      else await api("POST", `/api/artifacts/${this.id}/${name}`);
      this.problem = null;
    } catch (problem) {
      this.problem = problem;
    }
    await this.refresh();
    this.host.changed();
  }

  show() {
    if (this.left) return; // another page is shown
    const { a } = this;
    document.title = `${a.title} · ${words.brand}`;
    this.head.replaceChildren(h("div", { class: "names" }, h("h1", {}, a.title), h("p", { class: "muted small" }, `${words.type[a.type]} · ${a.tone}`, a.tags.map((t) => h("span", { class: "tag" }, t)))), badge(a.status), this.actions());
    this.work.replaceChildren(...[this.progress(), this.failure(), proposal(this)].filter(Boolean));
    if (!this.editing) this.text();
    this.side.replaceChildren(...[this.humanity(), versions(this), this.sources(), this.past()].filter(Boolean));
    this.host.screenChanged();
  }

  actions() {
    const { a } = this, busy = this.working(), row = h("div", { class: "row" });
    const on = (label, run, kind = "", props = {}) => add(row, button(label, run, kind, { disabled: busy, ...props }));
    if (a.status === "draft") on("Create Content", () => this.run(`Create content for artifact ${a.id}: ${a.title}`, whole), "primary", { "data-testid": "create-content-button" });
    if (a.status === "ready") on("Publish", () => this.act("publish"), "primary");
    if (["ready", "published"].includes(a.status)) on("Humanize", () => this.run("Humanize this content", ["humanizer"]));
    if (a.status === "archived") on("Take out of the archive", () => this.act("edit"));
    else if (!this.editing) on("Edit", () => this.edit());
    if (a.status !== "archived") on("Archive", () => this.act("archive"), "quiet");
    else on("Delete", () => confirmed(`Delete “${a.title}”?`, "The text, its sources and its images can’t be brought back.", "Delete", () => this.act("delete")), "quiet");
    return row;
  }

  progress() {
    const { a } = this, p = a.pipeline, over = !this.working();
    if (!p && !this.running) return null;
    if (over && (p?.state !== "completed" || !this.pressed)) return null;
    const names = p?.state === "running" || over ? p.tools : this.tools;
    const at = order.indexOf(a.status);
    const steps = names.map((name) => ({ name, done: over || this.ended.has(name) || (names.length > 1 && name !== "humanizer" && at >= order.indexOf(reached[name]?.[0])) || (name === "humanizer" && names.includes("visualsCreator") && at >= 5) }));
    const current = steps.find((s) => !s.done);
    const done = steps.filter((s) => s.done).length;
    return h("section", { class: "panel progress", "data-testid": "writing-progress", "aria-label": "Progress" },
      h("div", { class: "row between" }, h("h2", {}, over ? "Done" : names.length > 1 ? "Creating Content…" : `${toolName(names[0])}…`), over ? null : button("Stop", () => this.act("cancel"))),
      h("progress", { max: steps.length, value: done, "aria-label": `${done} of ${steps.length} steps` }),
      h("ol", { "aria-live": "polite" }, steps.map((s) => {
        const state = s.done ? "done" : s === current ? "current" : "next";
        return h("li", { class: state, "data-testid": `status-${reached[s.name]?.[1] ?? s.name}` }, h("span", { class: "sign" }, s.done ? icon("check", 16) : h("span", { class: `dot ${s === current ? "running" : ""}` })),
          h("div", {}, h("span", {}, toolName(s.name)), h("span", { class: "hidden-visually" }, { done: ": done", current: ": in progress", next: ": comes later" }[state]), s === current ? h("p", { class: "muted small" }, words.tools[s.name]?.[1]) : null));
      }), a.status === "ready" && over ? h("li", { class: "done", "data-testid": "status-ready" }, h("span", { class: "sign" }, icon("check", 16)), "Ready") : null));
  }

  failure() {
    const p = this.a.pipeline;
    const next = p?.tools.find((name) => !(p.done ?? []).includes(name));
    if (!this.problem && p?.state === "stopped" && !this.working() && needs[next]?.includes(this.a.status)) {
      return h("section", { class: "panel", "data-testid": "stopped" }, h("p", {}, `Stopped. Next: ${words.results[next]}.`), button("Continue", () => this.run("Continue", p.tools), "primary"));
    }
    const problem = this.problem ?? (p?.state === "failed" && !this.working() && needs[p.failed]?.includes(this.a.status) ? new Problem(200, { category: "TOOL_EXECUTION_FAILED", message: `${toolName(p.failed)} failed: ${p.reason.replace(/\.$/, "")}. The artifact is as it was before that step.`, traceId: p.traceId, recoveryOptions: [{ label: `Try again from ${words.results[p.failed]}`, message: "Try again" }] }) : null);
    if (!problem) return null;
    return errorCard(problem, (message) => {
      if (message === "Edit this artifact") return this.host.edit(this.id);
      return message === "Try again" ? this.run(message, p?.tools ?? whole) : this.host.say(message);
    }, this.problem && this.again);
  }

  text() {
    const { a } = this;
    this.body.replaceChildren(a.content ? h("article", { class: "prose", "data-testid": "artifact-content" }, trusted(h("div", { class: "block" }), a.html))
      : h("div", { class: "empty", "data-testid": "artifact-content" }, icon("pen", 28), h("p", {}, "There is no text yet. “Create Content” researches, outlines, writes, humanizes and illustrates it; or write it yourself."), button("Write it myself", () => this.edit())));
  }

  edit() {
    const { a } = this;
    const title = h("input", { class: "input", value: a.title, maxLength: 200, required: true }), tone = toneSelect(a.tone);
    const tags = h("input", { class: "input", value: a.tags.join(", ") }), content = h("textarea", { class: "input editor", value: a.content, maxLength: 100000, spellcheck: true });
    const failed = h("div", {});
    const close = () => {
      this.editing = false;
      this.show();
    };
    this.editing = true;
    this.show();
    this.body.replaceChildren(h("form", { class: "stack", onkeydown: (e) => e.key === "Escape" && close(), onsubmit: async (e) => {
      e.preventDefault();
      try {
        await api("PATCH", `/api/artifacts/${this.id}`, { updatedAt: a.updatedAt, title: title.value.trim(), tone: tone.value, tags: tags.value.split(",").map((t) => t.trim()).filter(Boolean), content: content.value });
        this.editing = false;
        await this.refresh();
        this.host.toast("Saved");
      } catch (problem) {
        failed.replaceChildren(errorCard(problem));
      }
    } }, field("Title", title), h("div", { class: "pair" }, field("Tone", tone), field("Tags", tags, "Separated by commas")), field("Text", content, a.status === "published" ? "Markdown. Saving takes it back from published to ready." : "Markdown"), failed, h("div", { class: "row" }, h("button", { type: "submit", class: "button primary" }, "Save"), button("Cancel", close))));
    content.setSelectionRange(0, 0);
    content.focus();
  }

  humanity() {
    const { humanity: now, metadata } = this.a, last = metadata?.humanity;
    if (!this.a.content) return null;
    return panel("Patterns of machines", h("p", {}, h("b", { "data-testid": "humanity-score" }, now.summary)),
      ...Object.entries(now.found ?? {}).map(([name, n]) => h("p", { class: "muted small" }, `${name} (${count(n)})`)),
      last?.before ? h("p", { class: "muted small" }, `The last revision: ${last.before} before, ${last.after} after.`) : null);
  }

  sources() {
    const note = this.a.metadata?.researchNote;
    return panel(this.research.length ? `Research (${count(this.research.length)})` : "Research", this.research.length === 0 ? h("p", { class: "muted small" }, note || "No sources yet.") : h("ul", { class: "sources", tabIndex: 0, "aria-label": "Sources", "data-testid": "research" }, this.research.map((s) => h("li", {},
      h("div", { class: "row between" }, h("b", { class: "small" }, words.source[s.sourceType] ?? s.sourceType), h("span", { class: "muted small" }, `Relevance ${Math.round(s.relevanceScore * 100)} %`)),
      /^https?:/.test(s.sourceUrl ?? "") ? h("a", { href: s.sourceUrl, target: "_blank", rel: "noopener noreferrer nofollow" }, s.sourceName) : h("span", {}, s.sourceName), h("p", { class: "muted small" }, s.excerpt)))));
  }

  past() {
    if (this.history.length === 0) return null;
    return panel("History", h("ol", { class: "past" }, [...this.history].reverse().slice(0, 12).map((c) => h("li", { class: "small" }, h("span", {}, c.from === c.to ? "Changed" : statusName(c.to), h("span", { class: "muted" }, ` by ${c.tool ? toolName(c.tool).toLowerCase() : c.by === "user" ? "you" : c.by}`)), h("time", { class: "muted", title: exactly(new Date(c.at)) }, when(new Date(c.at)))))));
  }
}

// confirmed asks before something that can't be undone.
function confirmed(title, text, label, run) {
  const dialog = h("dialog", { role: "alertdialog", "aria-labelledby": "sure", onclose: () => dialog.remove() }, h("h2", { id: "sure" }, title), h("p", {}, text), h("div", { class: "row" }, button("Cancel", () => dialog.close()), button(label, () => (dialog.close(), run()), "danger")));
  add(document.body, dialog);
  dialog.showModal();
}
