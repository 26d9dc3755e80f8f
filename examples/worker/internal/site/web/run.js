// The page of a run: its steps, its strip, what waits for a decision, the report, and all facts.

import { button, h, icon } from "/page/dom.js";
import { count, duration, exactly } from "/page/format.js";
import { steady } from "/page/steady.js";
import { texts } from "/page/texts.js";
import { api, badge, chip, confirm, panel, setText } from "./parts.js";
import { describe } from "./facts.js";
import { Strip, summary } from "./strip.js";

const states = { "": "minus", running: "reload", waiting: "question", done: "check", failed: "warning" };
const said = { "": "to do", running: "in progress", waiting: "waits for you", done: "done", failed: "failed" };
const times = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export class Run {
  constructor(host, id) {
    this.host = host;
    this.id = id;
    this.title = "Run";
    this.source = `/events?run=${encodeURIComponent(id)}`;
    this.name = h("h1", {}, "…");
    this.state = h("span", {});
    this.actions = h("div", { class: "row" });
    this.note = h("p", { class: "muted" });
    this.steps = h("ol", { class: "steps" });
    this.cards = h("div", { class: "cards" });
    this.strip = new Strip();
    this.story = h("p", { class: "muted small" });
    this.report = h("div", { class: "paper" });
    this.facts = h("ol", { class: "facts" });
    this.number = h("span", { class: "muted small" });
    this.element = h("main", { class: "view", id: "main", tabIndex: -1 },
      h("div", { class: "head" }, h("div", { class: "name" }, this.name, this.state), this.actions), this.note, this.cards,
      h("section", { class: "panel", "aria-label": "Steps" }, this.steps, this.strip.element, this.story),
      h("div", { class: "two even" }, panel("Report", this.report), h("section", { class: "panel", "aria-label": "Facts" }, h("h2", {}, "Facts ", this.number), this.facts)));
  }

  update(r) {
    this.run = r;
    this.title = r.topic;
    setText(this.name, r.topic[0].toUpperCase() + r.topic.slice(1));
    this.once("state", r.status, () => this.state.replaceChildren(badge(r.status)));
    this.once("actions", `${r.status} ${r.canRetry}`, () => this.actions.replaceChildren(...this.buttons(r)));
    setText(this.note, ["failed", "stopped"].includes(r.status) ? r.reason ?? "" : "");
    this.note.hidden = !this.note.textContent;
    this.once("steps", JSON.stringify(r.steps), () => this.steps.replaceChildren(...r.steps.map(stepItem)));
    this.once("pauses", JSON.stringify(r.pauses), () => this.cards.replaceChildren(...r.pauses.map((p) => this.card(p))));
    const open = ["queued", "running", "paused"].includes(r.status);
    const now = open ? Date.now() : Math.max(r.updated, ...r.legs.map((g) => g.to));
    this.strip.update(r, r.created, Math.max(now, r.created + 1000), now);
    setText(this.story, `${summary(r)[0].toUpperCase()}${summary(r).slice(1)}. ${count(r.effects)} effects of ${count(r.calls)} calls.`);
    this.once("report", String(r.report), () => this.report.replaceChildren(r.report ? h("iframe", { src: `/reports/${this.id}`, title: "The report", sandbox: "" }) : h("p", { class: "muted empty" }, "The page appears here when it is put together.")));
    this.showFacts(r);
  }

  // once does something when a value has changed.
  once(name, value, make) {
    this.made ??= {};
    if (this.made[name] === value) return;
    this.made[name] = value;
    make();
  }

  buttons(r) {
    const act = (method, path, done) => async () => {
      try {
        await api(method, `/runs/${this.id}${path}`);
        this.host.toast(done);
        if (method === "DELETE") this.host.go("/");
      } catch (problem) {
        this.host.toast(problem.message);
      }
    };
    const ask = async (title, text, action, run) => (await confirm(title, text, action)) && run();
    if (["queued", "running", "paused"].includes(r.status)) return [button("Cancel the run", () => ask("Cancel the run?", "What it has done stays. It can’t be continued.", "Cancel it", act("POST", "/cancel", "The run is canceled.")))];
    return [r.canRetry ? button("Retry", act("POST", "/retry", "The run is queued again."), "primary") : null, r.report ? h("a", { class: "button", href: `/reports/${this.id}`, target: "_blank", rel: "noopener" }, icon("open", 16), "Open") : null, button("Purge", () => ask("Purge the run?", "The run and its report are deleted for good.", "Purge it", act("DELETE", "", "The run is purged.")))].filter(Boolean);
  }

  // card asks for a decision.
  card(p) {
    const doubt = p.kind === "in_doubt";
    const failed = h("p", { class: "error-text", role: "alert" });
    const reason = h("input", { class: "input", placeholder: "Reason (optional)", "aria-label": "Reason for rejecting", maxLength: 500 });
    const decide = (decision, more) => async () => {
      for (const b of card.querySelectorAll("button")) b.disabled = true;
      try {
        await api("POST", `/runs/${this.id}/respond`, { id: p.id, decision, ...more });
        this.host.toast(decision === "reject" ? "Rejected." : "Decided. A worker goes on.");
        this.element.focus();
      } catch (problem) {
        failed.textContent = problem.message;
        for (const b of card.querySelectorAll("button")) b.disabled = false;
      }
    };
    const buttons = doubt
      ? [button("It has happened", decide("answer", { value: "It is published." }), p.happened ? "primary" : ""), button("Do it now", decide("approve"), p.happened ? "" : "primary")]
      : [button("Approve", decide("approve"), "primary")];
    const card = h("section", { class: "card", role: "group", "aria-label": "Decision" }, h("div", { class: "lead" }, icon(doubt ? "warning" : "question", 18), h("h2", {}, doubt ? `Has this happened? ${p.title}` : `${p.title}?`)),
      h("p", {}, doubt ? `The worker was killed after it had begun this call. The ledger has ${p.happened ? "its effect: it has happened." : "no effect of it: it hasn’t happened."}` : "Everybody can read the report then. That can’t be undone."),
      h("div", { class: "row" }, buttons, h("span", { class: "gap" }), reason, button("Reject", () => decide("reject", { reason: reason.value })())), failed);
    return steady(card, () => (failed.textContent = texts.moved));
  }

  // showFacts adds what is new: facts never change.
  showFacts(r) {
    setText(this.number, count(r.facts.length));
    for (const f of r.facts.slice(this.facts.children.length)) {
      const at = new Date(f.time), leg = r.legs.findLast((g) => g.from - 400 <= at && (g.open || at <= g.to + 600));
      const pre = h("pre", { tabIndex: 0 });
      const el = h("details", { ontoggle: () => (pre.textContent = el.open ? JSON.stringify(f, null, 2) : "") }, h("summary", {}, h("span", { class: "seq muted" }, String(f.seq)), leg ? chip(leg.worker) : h("span", { class: "chip none" }), h("span", { class: "what" }, describe(f)), h("time", { class: "muted", dateTime: f.time, title: exactly(at) }, times.format(at))), pre);
      this.facts.append(h("li", {}, el));
    }
  }
}

function stepItem(s) {
  const more = [s.took > 0 && s.state !== "" ? duration(s.took) : "", s.of > 1 ? `${s.done} of ${s.of}` : "", s.tries > s.of ? `${s.tries} attempts` : ""].filter(Boolean).join(" · ");
  return h("li", { class: s.state || "todo" }, h("span", { class: "sign" }, icon(states[s.state] ?? "minus", 16)), h("div", {}, h("b", {}, s.name), h("p", { class: "muted small" }, more || said[s.state] || "")));
}
