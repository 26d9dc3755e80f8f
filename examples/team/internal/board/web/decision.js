// What waits for a person, at the plan or at a step: its buttons, and what they mean.

import { Problem } from "../page/api.js";
import { button, h, icon } from "../page/dom.js";
import { sentence } from "../page/format.js";
import { steady } from "../page/steady.js";
import { texts } from "../page/texts.js";
import { diff } from "./step.js";
import { post } from "./source.js";
import { words } from "./words.js";

export class Decision {
  // app has session(), run(), decided() and inChat(id).
  constructor(ask, app) {
    Object.assign(this, { ask, app });
    const id = `ask-${encodeURIComponent(ask.id)}`;
    this.error = h("p", { class: "error-text", role: "alert" });
    this.area = h("div", { class: "answers" });
    const title = this.title();
    this.element = h(
      "section",
      { class: `decision ${ask.kind}`, tabIndex: -1, role: "alertdialog", "aria-labelledby": id, "data-ask": ask.id },
      h("div", { class: "lead" }, icon(ask.kind === "plan" ? "question" : "warning", 18), h("h3", { id }, title)),
      this.about(),
      ask.refused ? h("p", { class: "explain danger" }, words.ask.refused(ask.refused)) : null,
      this.area,
      this.error,
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.form) return;
      event.stopPropagation();
      this.choose(true);
    });
    this.choose();
    steady(this.element, () => (this.error.textContent = texts.moved));
  }

  title() {
    const { kind, title, call, choices } = this.ask;
    if (kind === "plan") return words.ask.plan;
    if (kind === "call") return command(call, this.ask.tool) ? words.ask.command : words.ask.effect;
    if (kind === "step") return choices.includes("grant") ? words.ask.stuck : words.ask.failed;
    return title;
  }

  about() {
    const { kind, title, reason, call, preview } = this.ask;
    if (kind === "plan") return h("p", { class: "explain" }, words.ask.planNote);
    if (kind !== "call") return null;
    const line = command(call, this.ask.tool);
    return [line ? h("pre", { class: "command", tabIndex: 0, "aria-label": title }, h("span", { "aria-hidden": "true" }, "$ "), line) : h("p", {}, title), reason ? h("p", { class: "explain" }, sentence(reason)) : null, preview ? diff(preview, title) : null];
  }

  // choose shows the buttons.
  choose(focus) {
    this.form = false;
    const { kind, always, scope, scopes, choices } = this.ask;
    // The second click of a double click may hit what has taken the place of this.
    const go = (decision, more) => (event) => event.detail > 1 || this.decide({ kind: decision, ...more });
    let all = [];
    if (kind === "plan") {
      all = [button([icon("check"), words.ask.approve], go("approve"), "primary"), button(words.ask.change, () => this.change()), h("span", { class: "apart" }, button(words.ask.reject, go("reject")))];
    } else if (kind === "call") {
      const wide = scopes?.length ? scopes.filter((s) => s.name !== "session" || scopes.length === 1) : always ? [{ name: "", text: words.ask.here }] : [];
      all = [button(words.ask.once, go("approve"), "primary"), ...wide.map((s) => button(words.ask.always(scope, s.text ?? s.name), go("always", { scope: s.name === "session" ? "" : s.name }))), h("span", { class: "apart" }, button(words.ask.no, go("reject")))];
    } else if (kind === "step") {
      return this.pick(choices.filter((c) => words.ask.choices[c]), go, focus);
    } else {
      all = [button(words.answerInChat, () => this.app.inChat(this.ask.id), "primary")];
    }
    this.area.replaceChildren(h("div", { class: "buttons" }, all));
    if (focus) this.area.querySelector("button").focus();
  }

  // pick shows the choices about a step, each with what it means.
  pick(choices, go, focus) {
    const means = (i) => `means-${encodeURIComponent(this.ask.id)}-${i}`; // two steps may be stuck
    this.area.replaceChildren(h("ul", { class: "choices" }, choices.map((c, i) => h("li", {}, button(words.ask.choices[c], go("answer", { value: { decision: c } }), i === 0 ? "primary" : c === "give up" ? "danger-line" : "", { "aria-describedby": means(i) }), h("span", { class: "explain", id: means(i) }, words.ask.means[c])))));
    if (focus) this.area.querySelector("button").focus();
  }

  // change asks what should change.
  change() {
    this.form = true;
    const field = h("textarea", { class: "input", rows: 3, maxLength: 4000 });
    const onsubmit = (event) => {
      event.preventDefault();
      const reason = field.value.trim();
      if (reason) return this.decide({ kind: "suggest", reason });
      field.setAttribute("aria-invalid", "true");
      field.focus();
    };
    this.area.replaceChildren(h("form", { onsubmit, noValidate: true }, h("label", {}, h("span", { class: "field-name" }, words.ask.changeWhat), field), h("p", { class: "explain" }, words.ask.changeHint), h("div", { class: "buttons" }, button(words.ask.sendChange, null, "primary", { type: "submit" }), button(words.ask.cancel, () => this.choose(true), "quiet"))));
    field.focus();
  }

  async decide(decision) {
    if (this.busy) return;
    this.wait(true);
    this.error.textContent = "";
    try {
      await post("decide", { session: this.app.session(), run: this.app.run(), decision: { id: this.ask.id, ...decision } });
      this.app.decided(this);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.error.textContent = texts.decisionFailed[problem.code] ?? problem.message;
      this.wait(false);
      this.area.querySelector("textarea, button").focus();
    }
  }

  wait(yes) {
    this.busy = yes;
    for (const el of this.area.querySelectorAll("button, textarea")) el.disabled = yes;
    this.area.setAttribute("aria-busy", String(yes));
  }
}

// command returns the command line of a call that runs a program; empty for others.
function command(call, tool) {
  const words = Array.isArray(call?.command) ? call.command : typeof call?.program === "string" ? [call.program, ...(call.args ?? [])] : Array.isArray(call?.args) ? [tool, ...call.args] : [];
  return words.map((w) => (/^[\w./:=@%+,-]+$/.test(w) ? w : `'${String(w).replaceAll("'", `'\\''`)}'`)).join(" ");
}
