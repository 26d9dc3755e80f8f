// The chat beside every page. What was said stays in the tab; what was done is on the server.

import { add, button, h, icon, iconButton } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { api, ask } from "./api.js";
import { errorCard } from "./cards.js";
import { plain, statusName, toolName, words } from "./words.js";

export class Chat {
  // host has screen(), refresh(), go(path), edit() and user.
  constructor(host) {
    this.host = host;
    this.key = `content.chat.${host.user.id}`;
    this.turns = JSON.parse(sessionStorage.getItem(this.key) ?? "[]");
    this.log = h("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": "Conversation", tabIndex: 0 });
    this.input = h("textarea", { class: "input", rows: 1, placeholder: "Ask about ideas, texts, images …", "aria-label": "Message", "data-testid": "chat-input", maxLength: 10000, oninput: () => this.fit(),
      onkeydown: (e) => e.key === "Enter" && !e.shiftKey && !e.isComposing && (e.preventDefault(), this.submit()) });
    this.submitButton = h("button", { type: "submit", class: "button primary send", "aria-label": "Send" }, icon("send", 18));
    this.about = h("p", { class: "about muted small" });
    this.element = h("aside", { class: "chat", "aria-label": "Assistant", onkeydown: (e) => e.key === "Escape" && this.host.toggleChat(false) },
      h("div", { class: "chat-head" }, h("h2", {}, "Assistant"), iconButton("plus", "New conversation", () => this.reset()), iconButton("close", "Close the assistant", () => this.host.toggleChat(false))),
      this.log, h("form", { class: "composer-row", onsubmit: (e) => (e.preventDefault(), this.submit()) }, this.about, h("div", { class: "line" }, this.input, this.submitButton),
        this.host.model ? h("p", { class: "muted small", "data-testid": "model" }, words.model(this.host.model)) : null));
    this.show();
  }

  submit() {
    const message = this.input.value.trim();
    if (!message || this.busy) return;
    this.input.value = "";
    this.fit();
    this.send(message);
  }

  fit() {
    this.input.rows = Math.min(8, this.input.value.split("\n").length);
  }

  // screenChanged says below the conversation what "this" means now.
  screenChanged() {
    const s = this.host.screen();
    this.about.textContent = s.artifactTitle ? `About “${s.artifactTitle}”` : "No artifact selected";
  }

  async send(message, label = message) {
    if (this.busy) return;
    const s = this.host.screen();
    if (message === "Edit this artifact" && s.artifactId) return this.host.edit(s.artifactId);
    for (const t of this.turns) t.decided = true;
    this.turns.push({ who: "you", text: label });
    this.busy = "Thinking …";
    this.show();
    let turn;
    try {
      const a = await ask(message, s, (name, data) => {
        if (name !== "tool") return;
        this.busy = `${toolName(data.tool)} …`;
        this.show();
        this.host.refresh();
      });
      turn = { who: "agent", text: a.message, used: a.toolsUsed, moved: a.statusTransition, options: a.options, data: a.data, kind: /linkedin|social/i.test(message) ? "social_post" : /showcase/i.test(message) ? "showcase" : "blog" };
    } catch (problem) {
      if (problem.status === 401) return this.host.go("/login");
      const { category, traceId, recoveryOptions, retryAfter } = problem;
      turn = { who: "agent", error: { category, message: problem.message, traceId, recoveryOptions, retryAfter }, again: [message, label] };
    }
    this.busy = "";
    this.turns.push(turn);
    this.show();
    this.host.refresh();
    this.input.focus({ preventScroll: true });
  }

  async reset() {
    await api("POST", `/api/content-agent/sessions/${encodeURIComponent(`${this.host.user.id}/1`)}/reset`).catch(() => {});
    this.turns = [];
    this.show();
    this.input.focus();
  }

  show() {
    this.turns = this.turns.slice(-50);
    sessionStorage.setItem(this.key, JSON.stringify(this.turns));
    const end = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 60;
    this.log.replaceChildren(...this.turns.map((t) => this.turn(t)));
    if (this.turns.length === 0) {
      add(this.log, h("div", { class: "empty" }, h("p", {}, "I find topics, research, write, humanize and illustrate. I know which page you look at."), h("div", { class: "options" }, words.examples.map((e) => button(e, () => this.send(e))))));
    }
    if (this.busy) add(this.log, h("p", { class: "typing muted", role: "status" }, h("span", { class: "dot running" }), this.busy));
    this.submitButton.disabled = Boolean(this.busy);
    this.input.disabled = Boolean(this.busy);
    if (end || this.busy) this.log.scrollTop = this.log.scrollHeight;
  }

  turn(t) {
    if (t.who === "you") return h("div", { class: "user" }, h("span", { class: "hidden-visually" }, "You: "), h("div", { class: "bubble" }, t.text));
    if (t.error) return errorCard(t.error, (m) => this.send(m), () => this.send(...t.again));
    return h("div", { class: "said" }, h("span", { class: "hidden-visually" }, "Assistant: "), h("p", {}, plain(t.text)),
      t.moved ? h("p", { class: "moved small" }, icon("check", 14), `${statusName(t.moved.from)} → ${statusName(t.moved.to)}`) : null,
      this.data(t),
      t.options?.length ? h("div", { class: "options" }, t.options.map((o) => button(o.label, () => this.send(o.message, o.label), "", { disabled: Boolean(t.decided || this.busy) }))) : null,
      t.used?.length ? h("p", { class: "muted small used" }, `Used: ${t.used.map((u) => toolName(u)).join(", ")}`) : null);
  }

  // data shows what an answer brings: topics, artifacts, or sources.
  data(t) {
    const d = t.data ?? {};
    if (d.topics) {
      return h("ul", { class: "topics" }, d.topics.map((topic) => h("li", {}, h("b", {}, topic.title), h("p", {}, topic.rationale ?? topic.description),
        topic.trendingScore === undefined ? null : h("p", { class: "muted small" }, `Interest ${Math.round(topic.trendingScore * 100)} % · competition ${topic.competitionLevel}`),
        topic.suggestedAngle ? h("p", { class: "muted small" }, `Angle: ${topic.suggestedAngle}`) : null,
        topic.id ? button("Open", () => this.host.go(`/artifacts/${topic.id}`)) : button("Create draft", () => this.draft(topic, t.kind)))));
    }
    if (d.artifacts) return h("ul", { class: "topics" }, d.artifacts.map((a) => h("li", {}, h("b", {}, a.title), h("p", { class: "muted small" }, words.type[a.type]), button("Open", () => this.host.go(`/artifacts/${a.id}`)))));
    if (d.research) return h("p", { class: "small" }, `${count(d.research.length)} sources; they are beside the text.`);
    if (d.artifact) return h("p", { class: "small" }, `“${d.artifact.title}”: ${statusName(d.artifact.status)}.`);
    return null;
  }

  async draft(topic, type) {
    try {
      const a = await api("POST", "/api/artifacts", { type, title: topic.title, tags: [], idea: { suggestedAngle: topic.suggestedAngle, audience: topic.audience, rationale: topic.rationale } });
      this.host.go(`/artifacts/${a.id}`);
    } catch (problem) {
      this.host.toast(problem.message);
    }
  }
}
