// What the assistant's tools have in the chat: a line for each step, and below an answer its buttons, topics and articles.

import { button, h, icon } from "/agent/page/dom.js";
import { count, duration } from "/agent/page/format.js";
import { api } from "./api.js";
import { badge, errorCard } from "./cards.js";
import { plain, toolName, words } from "./words.js";

// A Step is a line about a tool: what it does, how far it is, and the text as it is written.
export class Step {
  constructor(item, chat) {
    this.chat = chat;
    this.element = h("div", { class: "part step" });
    this.update(item);
  }

  update(item) {
    const { model } = this.chat.page ?? { model: null };
    const status = item.status ?? "ready", [doing, , done] = words.tools[item.name] ?? [words.working];
    const over = !["writing", "ready", "running"].includes(status), good = status === "ok" || status === "answered";
    this.element.hidden = over ? !done : Boolean(model?.suspends(item)); // the answer, or its card says it
    const [line, text] = over ? [] : (item.progress?.text ?? "").split(/\n+(.*)/s);
    const sign = good ? icon("check") : !over ? h("span", { class: "spinner" }) : icon(["rejected", "denied", "canceled", "not_run"].includes(status) ? "minus" : "cross");
    const outcome = good ? (item.took >= 1000 ? duration(item.took) : "") : over ? (["rejected", "denied", "not_run"].includes(status) ? words.answer.denied : status === "canceled" ? words.answer.stopped : words.answer.failed) : "";
    this.element.classList.toggle("bad", over && !good);
    this.element.replaceChildren(h("p", { class: "small" }, h("span", { class: "sign" }, sign), h("b", {}, plain(line || (good ? done : doing))), h("span", { class: "muted" }, outcome)),
      item.progress?.done && !over ? h("progress", { max: 1, value: item.progress.done, "aria-label": line || doing }) : "", text ? h("p", { class: "written small" }, text) : "");
  }
}

// An Answer is what belongs to the text of an answer.
export class Answer {
  constructor(item, chat) {
    Object.assign(this, { chat, choices: [], element: h("div", { class: "part answer" }) });
    this.update(item);
  }

  update(item) {
    let said = null;
    try {
      said = JSON.parse(item.input);
    } catch {
      // it isn't written yet
    }
    this.element.hidden = !said;
    if (!said || this.said) return;
    this.said = said;
    const { chat } = this, options = (said.options ?? []).map((o) => (typeof o === "string" ? { label: o, message: o } : o));
    const beside = [...(chat.page?.model.items.values() ?? [])].some((i) => i.kind === "text" && i.group === item.group);
    this.choices = options.map((o) => button(o.label, () => this.choose(o.message), said.data?.stopped && options.length === 1 ? "primary" : "", { disabled: true }));
    const parts = [beside ? null : h("p", {}, plain(said.message)), this.data(said.data ?? {}, item, beside), this.choices.length ? h("div", { class: "options row", role: "group", "aria-label": words.whatNow }, this.choices) : null];
    this.element.replaceChildren(...parts.flat().filter(Boolean));
    this.here(chat.host.screen().artifactId);
    this.element.hidden = this.element.childElementCount === 0;
  }

  // here leaves out what leads to the article that is open beside the chat.
  here(id) {
    for (const el of this.element.querySelectorAll("[data-article]")) el.classList.toggle("here", el.dataset.article === id);
  }

  // current says whether nothing was said since: then the buttons can be pressed.
  current(yes) {
    for (const b of this.choices) b.disabled = !yes;
  }

  choose(message) {
    const id = this.said.artifactId ?? this.said.data?.artifact?.id;
    if (message === "Edit this artifact" && (id || this.chat.host.screen().artifactId)) return this.chat.host.edit(id || this.chat.host.screen().artifactId);
    return this.chat.say(message);
  }

  data(d, item, beside) {
    const { host } = this.chat, open = (id, label = words.topic.open) => button(label, () => host.go(`/artifacts/${id}`));
    const artifact = (a) => h("li", {}, h("div", { class: "row between" }, h("b", {}, a.title), badge(a.status)), h("p", { class: "muted small" }, words.type[a.type] ?? ""), open(a.id));
    return [
      d.stopped?.done?.length ? h("ul", { class: "did small" }, (d.stopped.done ?? []).map((t) => this.step(t, true)), [d.stopped.next ?? []].flat().slice(0, 1).map((t) => this.step(t, false))) : null,
      d.topics?.length ? h("ul", { class: "topics" }, d.topics.map((t) => this.topic(t, d.type))) : null,
      d.artifacts?.length ? h("ul", { class: "topics" }, d.artifacts.map(artifact)) : null,
      d.artifact ? h("ul", { class: "topics", "data-article": d.artifact.id }, artifact(d.artifact)) : null,
      d.research?.length ? h("p", { class: "small" }, words.answer.sources(count(d.research.length))) : null,
      d.proposal?.artifactId ? h("div", { "data-article": d.proposal.artifactId }, open(d.proposal.artifactId, words.answer.look)) : null,
      d.error ? errorCard({ ...d.error, message: beside ? "" : d.error.message, recoveryOptions: this.choices.length ? [] : d.error.recoveryOptions, until: d.error.retryAfter && Date.parse(item.time ?? 0) + 1000 * d.error.retryAfter }, (m) => this.choose(m)) : null,
      d.stopped && !this.choices.length ? button(words.answer.resume, () => this.choose(words.answer.resumeText(d.stopped.title)), "primary") : null,
    ];
  }

  step(tool, done) {
    return h("li", { class: done ? "" : "muted" }, icon(done ? "check" : "minus", 14), `${(words.results[tool] ?? toolName(tool)).replace(/^./, (c) => c.toUpperCase())}: ${done ? words.answer.done : words.answer.notDone}`);
  }

  topic(t, type) {
    const draft = { type: t.type ?? type ?? "blog", title: t.title, tags: [], idea: { suggestedAngle: t.suggestedAngle, audience: t.audience, rationale: t.rationale } };
    const create = () => api("POST", "/api/artifacts", draft).then((a) => this.chat.host.go(`/artifacts/${a.id}`), (problem) => this.chat.page.toast(problem.message));
    return h("li", {}, h("b", {}, t.title), h("p", {}, t.rationale ?? t.description), t.trendingScore === undefined ? null : h("p", { class: "muted small" }, words.topic.interest(Math.round(t.trendingScore * 100), t.competitionLevel)),
      t.suggestedAngle ? h("p", { class: "muted small" }, words.topic.angle(t.suggestedAngle)) : null, t.id ? button(words.topic.open, () => this.chat.host.go(`/artifacts/${t.id}`)) : button(words.topic.create, create));
  }
}
