// A pause as a card: what the agent wants to do, and what somebody can decide. Afterwards it is a record of one line.

import { Problem, api } from "./api.js";
import { button, h, icon } from "./dom.js";
import { duration, humanized, parsed, sentence } from "./format.js";
import { data } from "./call.js";
import { fields } from "./fields.js";
import { timeOf } from "./messages.js";
import { steps } from "./plan.js";
import { choiceOf, simple } from "./schema.js";
import { steady } from "./steady.js";
import { texts } from "./texts.js";

const kinds = ["approval", "in_doubt", "correction"];

export class Approval {
  // app has session(), and decided(), which is called when a decision was taken.
  constructor(item, model, app) {
    Object.assign(this, { model, app, element: h("div", {}) });
    this.update(item);
  }

  // update shows the item again, if it has changed: a form or a record that somebody has opened stays.
  update(item) {
    this.item = item;
    if (!item.pause) return;
    const open = this.model.isOpen(item);
    const state = open ? `open ${item.pause.refused}` : `over ${item.decision?.kind}`;
    if (state === this.state) return;
    const { deciding } = this, focused = this.element.contains(document.activeElement);
    this.state = state;
    this.shown = open;
    this.deciding = false;
    this.element.replaceChildren(open ? this.card() : this.record());
    if (deciding && !open) (this.app.conversation.firstOpen() ?? this.app.composer).focus();
    else if (deciding || focused) this.element.querySelector(".card, summary").focus({ preventScroll: true });
  }

  get title() {
    const { ask, title: what, reason } = this.item.pause;
    if (this.item.pause.plan) return this.shown ? texts.plan.ask(this.item.pause.plan.title) : this.item.pause.plan.title;
    if (ask === "approval") return this.shown ? texts.ask.allow(what) : what;
    if (ask === "in_doubt") return texts.ask.in_doubt(what);
    if (ask === "correction") return texts.ask.correction(what);
    return reason || texts.ask.question;
  }

  card() {
    const p = this.item.pause;
    const id = `card-${encodeURIComponent(this.item.id)}`; // lists of ids are separated by spaces
    this.error = h("p", { class: "error-text", role: "alert" });
    this.left = h("span", { class: "left" });
    this.area = h("div", {});
    this.facts = h("div", {}, p.plan ? planned(p.plan) : [this.about(), diff(p.preview), p.ask === "approval" || p.ask === "in_doubt" ? raw(p.input, p.preview) : null, hosts(p.show)]);
    const high = p.risk === "high" && kinds.includes(p.ask);
    const card = h(
      "section",
      { class: high ? "card high" : "card", role: p.for ? "group" : "alertdialog", tabIndex: -1, "aria-labelledby": id, "aria-describedby": `${id}-notes` },
      h("div", { class: "lead" }, icon(kinds.includes(p.ask) ? "warning" : "question", 20), h("div", {}, h("h2", { id }, this.title)), this.left),
      h("div", { class: "inside" }, this.facts, this.notes(`${id}-notes`), this.area, this.error),
    );
    card.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.inForm) return;
      event.stopPropagation();
      this.choose();
    });
    this.choose();
    this.tick();
    return steady(card, () => (this.error.textContent = texts.moved));
  }

  about() {
    const p = this.item.pause;
    return p.about && kinds.includes(p.ask) ? h("p", {}, p.about) : null;
  }

  // notes say what the decision means, and why somebody is asked.
  notes(id) {
    const p = this.item.pause;
    const list = [];
    if (p.for) list.push(h("li", {}, texts.ask.for(p.for)));
    if (p.refused) list.push(h("li", { class: "danger" }, texts.ask.refused(p.refused)));
    if (p.ask === "approval") {
      if (texts.ask[p.risk]) list.push(h("li", { class: p.risk === "high" ? "danger" : "" }, texts.ask[p.risk]));
      list.push(h("li", {}, p.undo ? [icon("undo", 14), texts.ask.undo] : texts.ask.noUndo));
    }
    if (p.ask === "in_doubt") list.push(h("li", { class: "danger" }, texts.ask.inDoubtText));
    if (p.key) list.push(h("li", {}, `${texts.ask.key}: ${p.key}`));
    if (kinds.includes(p.ask) && p.reason && p.reason !== p.about && !p.plan) list.push(h("li", {}, `${texts.ask.why}: ${sentence(p.reason)}`));
    return h("ul", { class: "notes", id, hidden: list.length === 0 }, list);
  }

  // choose shows the buttons.
  choose(focus) {
    const p = this.item.pause;
    this.inForm = false;
    this.facts.hidden = false;
    // The second click of a double click may hit the next card, which moves up when this one is decided.
    const go = (decision, scope) => (event) => event.detail > 1 || this.decide({ decision, scope });
    const form = (name) => () => this[name]();
    const danger = p.risk === "high" ? "danger" : "primary";
    const all = [], more = [];
    if (p.for) return; // it isn't for people
    if (p.ask === "approval") {
      all.push(button(texts.ask.approve, go("approve"), danger));
      more.push(texts.ask.edit && button(texts.ask.edit, form("edit")), texts.ask.suggest && button(texts.ask.suggest, form("suggest")));
      if (p.scopes?.length > 0) more.push(...p.scopes.map((s) => button(texts.ask.alwaysIn(p.scope, s.text), go("always", s.name))));
      else if (p.always) more.push(button(texts.ask.always(p.scope), go("always")));
    } else if (p.ask === "in_doubt") {
      all.push(button(texts.ask.runAgain, go("approve"), danger), button(texts.ask.sayResult, form("answer")));
    } else if (p.ask === "correction") {
      return this.edit(true);
    } else {
      return this.answer(true);
    }
    all.push(h("span", { class: "apart" }, button(p.ask === "in_doubt" ? texts.ask.leave : texts.ask.reject, go("reject")), texts.ask.withReason && button(texts.ask.withReason, form("reject"), "quiet", { "aria-label": p.ask === "in_doubt" ? texts.ask.leaveWhy : texts.ask.rejectWhy })));
    if (more.some(Boolean)) all.push(h("span", { class: "more" }, more));
    this.area.replaceChildren(h("div", { class: "buttons" }, all));
    if (focus !== false && this.back) this.area.querySelector("button").focus();
    this.back = true;
  }

  // ask shows a form. read returns the decision, or nothing if something is missing.
  ask(element, label, read, kind, first, focus) {
    this.inForm = !first;
    const cancel = first ? this.refuse() : button(texts.ask.cancel, () => this.choose(), "quiet");
    const onsubmit = (event) => {
      event.preventDefault();
      const decision = read();
      if (decision) this.decide(decision);
    };
    this.area.replaceChildren(h("form", { onsubmit, noValidate: true }, element, h("div", { class: "buttons" }, button(label, null, kind, { type: "submit" }), cancel)));
    if (!first) focus();
  }

  // refuse returns the buttons that give no answer.
  refuse() {
    return h("span", { class: "apart" }, button(texts.ask.reject, (event) => event.detail > 1 || this.decide({ decision: "reject" })), texts.ask.withReason && button(texts.ask.withReason, () => this.reject(), "quiet", { "aria-label": texts.ask.rejectWhy }));
  }

  edit(first) {
    const p = this.item.pause;
    this.facts.hidden = !first; // the fields show the same
    const f = fields(p.schema, p.input ?? "{}", texts.input);
    const read = () => {
      const got = f.read();
      return got.error ? null : { decision: "edit", input: got.json };
    };
    this.ask(f.element, texts.ask.approveEdited, read, p.risk === "high" ? "danger" : "primary", first, f.focus);
  }

  answer(first) {
    const p = this.item.pause;
    const schema = p.ask === "in_doubt" ? undefined : p.schema;
    const choice = choiceOf(schema);
    if (choice) return this.pick(choice);
    const f = fields(schema, undefined, simple(schema) || !schema ? texts.ask.answer : humanized(p.name), p.ask === "secret");
    const read = () => {
      const got = f.read();
      return got.error ? null : { decision: "answer", value: got.json };
    };
    this.ask(f.element, texts.ask.send, read, "primary", first, f.focus);
  }

  // pick shows a button for each choice, and perhaps a field.
  pick({ values, text, name, other }) {
    const field = other ? h("input", { class: "input", type: "text", maxLength: 4000 }) : null;
    const label = field ? h("label", {}, h("span", { class: "name" }, humanized(other), h("i", {}, ` (${texts.ask.optional})`)), field) : null;
    const value = (v) => JSON.stringify(name ? { [name]: v, ...(field?.value.trim() ? { [other]: field.value.trim() } : {}) } : v);
    const shown = (v) => (/^[a-z]+(_[a-z]+)*$/.test(v) ? humanized(v) : v); // a name is made a word, a text stays
    const buttons = values.map((v, i) => button(shown(v), (event) => event.detail > 1 || this.decide({ decision: "answer", value: value(v) }), i === 0 ? "primary" : ""));
    this.area.replaceChildren(h("div", { class: "fields" }, text ? h("p", { class: "explain" }, sentence(text)) : null, label, h("div", { class: "buttons" }, buttons, name ? null : this.refuse())));
  }

  suggest() {
    this.askText(texts.ask.suggestion, texts.ask.sendSuggestion, true, "suggest", "primary");
  }

  reject() {
    this.askText(texts.ask.reason, texts.ask.reject, false, "reject", "primary");
  }

  askText(label, send, required, decision, kind) {
    const area = h("textarea", { class: "input", rows: 2, maxLength: 4000 });
    const optional = required ? null : h("i", {}, ` (${texts.ask.optional})`);
    const element = h("label", {}, h("span", { class: "name" }, label, optional), area, h("span", { class: "explain" }, texts.ask.reasonHint));
    const read = () => {
      const reason = area.value.trim();
      if (required && !reason) {
        area.setAttribute("aria-invalid", "true");
        area.focus();
        return null;
      }
      return { decision, reason };
    };
    this.ask(element, send, read, kind, false, () => area.focus());
  }

  async decide(decision) {
    this.deciding = true; // the focus is lost by it
    this.busy(true);
    this.error.textContent = "";
    try {
      await api.decide(this.app.session(), { id: this.item.id, ...decision });
      this.app.decided();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.error.textContent = texts.decisionFailed[problem.code] ?? problem.message;
      this.deciding = false;
      this.busy(false);
      this.area.querySelector("input, textarea, select, button").focus();
    }
  }

  busy(yes) {
    for (const el of this.area.querySelectorAll("button, input, textarea, select")) el.disabled = yes;
    this.area.setAttribute("aria-busy", String(yes));
  }

  // tick shows the time that is left.
  tick() {
    const expires = this.item.pause?.expires;
    if (!expires || !this.shown || !this.left) return;
    const ms = new Date(expires) - Date.now();
    this.left.textContent = ms > 0 ? texts.ask.left(duration(Math.max(ms, 1000))) : texts.ask.timeOver;
    this.left.classList.toggle("soon", ms < 60_000);
  }

  // record is what stays.
  record() {
    const { pause: p, decision: d } = this.item;
    const kind = d?.kind ?? "over";
    const good = ["approve", "edit", "always", "answer"].includes(kind);
    const bad = kind === "reject" || kind === "expired";
    const reach = d?.scope && p.scopes?.find((s) => s.name === d.scope);
    const words = texts.decidedBy((texts.decided[kind] ?? kind) + (reach ? ` ${reach.text}` : ""), d?.who);
    const shown = kind === "edit" && d.input ? d.input : p.input;
    return h(
      "details",
      { class: `record ${good ? "approved" : bad ? "rejected" : ""}` },
      h("summary", {}, icon(good ? "check" : bad ? "cross" : "minus"), h("span", { class: "what" }, h("b", {}, words), ` · ${this.title}`), d?.time ? h("span", { class: "muted" }, timeOf(new Date(d.time))) : null, h("span", { class: "chevron" }, icon("chevron"))),
      h("div", { class: "inside" }, d?.reason ? h("p", {}, h("span", { class: "field-name" }, texts.ask.reason), d.reason) : null, d?.value ? h("div", {}, h("span", { class: "field-name" }, texts.ask.answer), data(d.value)) : null, shown ? h("div", {}, h("span", { class: "field-name" }, texts.input), data(shown)) : null),
    );
  }

  focus() {
    this.element.firstElementChild?.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "center", behavior: "smooth" });
  }
}

// diff shows what a call would change. Added and removed lines differ by their first character, and in color.
function diff(text) {
  if (!text) return null;
  const kinds = { "+": "added", "-": "removed", "@": "hunk", "\\": "hunk" };
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = [];
  let file = null;
  for (let i = 0; i < lines.length; i++) {
    const kind = kinds[lines[i][0]] ?? "";
    if (lines[i].startsWith("--- ") && lines[i + 1]?.startsWith("+++ ")) {
      const [from, to] = [lines[i].slice(4), lines[++i].slice(4)];
      file = { name: to === "/dev/null" ? texts.ask.deleted(from.replace(/^a\//, "")) : from === "/dev/null" ? texts.ask.created(to.replace(/^b\//, "")) : to.replace(/^b\//, ""), added: 0, removed: 0, line: h("span", { class: "path" }) };
      shown.push(file.line);
    } else {
      if (file && kind in file) file[kind]++;
      shown.push(h("span", { class: kind }, lines[i] || " "));
    }
    if (file) file.line.textContent = `${file.name}  +${file.added} \u2212${file.removed}`;
  }
  return h("pre", { class: "diff", tabIndex: 0, role: "region", "aria-label": texts.ask.preview }, shown);
}

// raw shows what a call would run with; if there is a preview, which says it better, when it is opened.
function raw(text, preview) {
  const shown = input(text);
  return shown && preview ? h("details", { class: "raw" }, h("summary", {}, texts.input), shown) : shown;
}

// hosts shows what the host has made of it: a picture, or a page in a frame without scripts. Addresses of other sites aren't shown.
function hosts(show) {
  if (!show) return null;
  const title = show.title || texts.ask.shown;
  const own = (address) => {
    try {
      const url = new URL(address, location.href);
      return url.origin === location.origin ? url.href : "";
    } catch {
      return "";
    }
  };
  const picture = show.picture && own(show.picture);
  const page = show.page && own(show.page);
  if (!picture && !page) return null;
  const frame = page ? h("iframe", { src: page, title }) : null;
  frame?.setAttribute("sandbox", "");
  return h("figure", { class: "shown" }, picture ? h("img", { src: picture, alt: title }) : null, frame, h("figcaption", { class: "explain" }, title));
}

// input shows what a call would run with: its fields by name, or JSON if that shows it more exactly.
function input(text) {
  const value = text ? parsed(text) : undefined;
  if (!value || Array.isArray(value) || typeof value !== "object") return text ? data(text) : null;
  const rows = Object.entries(value);
  if (rows.length === 0) return null;
  const long = rows.length > 8 || text.length > 1500;
  return h("dl", { class: "facts", tabIndex: long ? 0 : undefined }, rows.map(([name, v]) => [h("dt", { title: name }, humanized(name)), fact(v)]));
}

function fact(value) {
  if (typeof value === "boolean") return h("dd", {}, value ? texts.ask.yes : texts.ask.no);
  if (typeof value === "string" || typeof value === "number") return h("dd", {}, String(value));
  const line = JSON.stringify(value);
  return h("dd", { class: "code-value" }, line.length <= 60 ? line.replaceAll('","', '", "') : JSON.stringify(value, null, 2));
}

// planned shows a plan that somebody decides about.
function planned(plan) {
  return [plan.why ? h("p", {}, plan.why) : null, steps(plan)];
}
