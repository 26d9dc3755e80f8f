// A step of the plan as a card: who does it, how far it is, and below that what is written, checked and asked.

import { h, icon } from "../page/dom.js";
import { words } from "./words.js";

// looks says how a status looks: the class, and the icon. Its word is in words.
const looks = {
  pending: ["idle", null],
  running: ["info", "spinner"],
  reviewing: ["info", "spinner"],
  asking: ["warning", "question"],
  waiting: ["warning", "question"],
  done: ["success", "check"],
  waived: ["success", "check"],
  failed: ["danger", "cross"],
  skipped: ["idle", "minus"],
  undone: ["idle", "undo"],
};

export class Step {
  constructor(id) {
    this.id = id;
    this.said = {};
    this.head = h("summary", {});
    this.body = h("div", { class: "inside" });
    this.ask = h("div", { class: "asked" });
    this.parts = {};
    for (const name of ["was", "runs", "calls", "files", "said", "task"]) this.body.append((this.parts[name] = h("div", { class: `part-${name}`, hidden: true })));
    this.details = h("details", {}, this.head, this.body);
    this.details.addEventListener("toggle", () => (this.touched ||= this.details.open !== this.auto));
    this.element = h("li", { class: "step" }, this.details, this.ask);
    this.opened = new Map(); // what somebody has opened or closed, by its key
  }

  update(step) {
    const [look, sign] = looks[step.status] ?? looks.pending;
    this.element.className = `step ${look} ${step.change ?? ""}`;
    this.element.dataset.step = step.id;
    this.element.dataset.status = step.status;
    this.keep("head", this.head, [step.begun, step.status, step.round, step.rounds, step.work, step.who, step.change, step.checks, step.runs?.map((r) => [r.name, r.passed, r.round]), step.files?.length, step.note, step.because], () => this.summary(step, sign));
    this.keep("was", this.parts.was, step.was, () => step.was && [name(words.was), h("p", { class: "before" }, step.was)]);
    this.keep("task", this.parts.task, [step.text, step.after, step.begun], () => [step.begun && step.more ? this.fold("task", false, words.task, () => h("p", { class: "long" }, step.text)) : null, !step.begun && step.after?.length ? h("p", { class: "explain after" }, words.after, step.after.map((id) => h("code", {}, id))) : null]);
    this.keep("calls", this.parts.calls, step.calls, () => step.calls?.length && [name(words.does), h("ul", { class: "doing" }, step.calls.map(call))]);
    this.keep("files", this.parts.files, step.files, () => step.files?.length && [name(words.files(step.files.length)), step.files.map((f) => this.file(f))]);
    this.keep("runs", this.parts.runs, [step.runs, step.round], () => step.runs?.length && this.runs(step));
    this.keep("said", this.parts.said, [step.said, step.status], () => step.said && [name(words.says), this.talk(step)]);
    const wanted = ["running", "reviewing", "asking", "failed"].includes(step.status) || (!step.begun && Boolean(step.change));
    if (!this.touched && wanted !== this.details.open) this.details.open = this.auto = wanted;
  }

  // keep shows a part again, if what it shows has changed.
  keep(key, parent, value, make) {
    const now = JSON.stringify(value ?? null);
    if (this.said[key] === now) return;
    this.said[key] = now;
    const made = make();
    const list = [made].flat(9).filter((x) => x instanceof Node);
    parent.hidden = list.length === 0;
    parent.replaceChildren(...list);
    if (key === "said") parent.querySelector(".talk")?.scrollTo(0, 1e6);
  }

  summary(step, sign) {
    const checks = step.checks ?? [];
    const latest = (check) => step.runs?.findLast((r) => r.name === check && r.round === Math.max(...step.runs.map((x) => x.round)));
    return [
      h("span", { class: "sign" }, sign === "spinner" ? h("span", { class: "spinner" }) : sign ? icon(sign, 16) : h("span", { class: "dot" })),
      h("span", { class: "work" }, step.work, step.change ? h("span", { class: `mark ${step.change}` }, words.changes[step.change]) : null),
      h("span", { class: "word" }, step.begun ? words.step[step.status] ?? step.status : ""),
      h(
        "span",
        { class: "facts" },
        h("span", { class: "who" }, h("i", { "aria-hidden": "true", "data-who": step.who }, words.who(step.who)[0]), words.who(step.who)),
        h("code", {}, step.id),
        step.rounds > 1 && step.round > 1 ? h("span", { class: "round" }, words.round(step.round, step.rounds)) : null,
        checks.map((c) => checked(c, latest(c))),
        step.files?.length ? h("span", { class: "count" }, icon("file", 14), words.files(step.files.length)) : null,
      ),
      !step.begun && step.more ? h("span", { class: "note more" }, step.more) : null,
      step.note || step.because ? h("span", { class: "note" }, step.note || words.because(step.because)) : null,
      h("span", { class: "chevron" }, icon("chevron")),
    ];
  }

  // fold makes an element that remembers whether it was opened.
  fold(key, open, summary, make) {
    const el = h("details", { class: "fold", open: this.opened.get(key) ?? open }, h("summary", {}, h("span", { class: "chevron" }, icon("chevron", 14)), summary));
    const fill = () => el.open && !el.querySelector(":scope > :not(summary)") && el.append(make());
    fill();
    el.addEventListener("toggle", () => (fill(), el.open === open ? this.opened.delete(key) : this.opened.set(key, el.open)));
    return el;
  }

  file(f) {
    return this.fold(`file ${f.name}`, false, [h("code", {}, f.name), counts(f)], () => diff(f.diff, f.name));
  }

  // runs shows what the checks have said, the newest round first. What fails is open.
  runs(step) {
    const newest = Math.max(...step.runs.map((r) => r.round));
    return [...step.runs]
      .map((r, i) => ({ ...r, key: `run ${i}` }))
      .reverse()
      .map((r) => this.fold(r.key, !r.passed && r.round === newest, [h("span", { class: r.passed ? "sign good" : "sign bad" }, icon(r.passed ? "check" : "cross", 14)), h("code", {}, words.checkRun(r)), h("span", { class: "muted" }, [r.passed ? words.check.passed : words.check.failed, r.rounds > 1 ? words.round(r.round, r.rounds) : "", r.took ? words.took(r.took) : ""].filter(Boolean).join(" · "))], () => output(r.output, words.output(r.name))));
  }

  talk(step) {
    return h("div", { class: step.status === "running" ? "talk live" : "talk", tabIndex: 0, role: "region", "aria-label": `${words.says}: ${step.work}` }, step.said.trim());
  }
}

function name(text) {
  return h("span", { class: "field-name" }, text);
}

// checked shows a check, and what it has said of the newest result.
function checked(check, run) {
  const look = run ? (run.passed ? "good" : "bad") : "";
  const word = run ? (run.passed ? words.check.passed : words.check.failed) : words.checks;
  return h("span", { class: `check ${look}` }, run ? icon(run.passed ? "check" : "cross", 12) : h("span", { class: "ring" }), h("span", { class: "hidden-visually" }, `${word}: `), words.named(check));
}

function call(c) {
  if (c.status === "suspended") return h("li", {}, h("span", { class: "sign warn" }, icon("question", 14)), h("span", {}, c.title));
  const over = !["writing", "running"].includes(c.status);
  const good = ["ok", "answered"].includes(c.status);
  return h("li", {}, over ? h("span", { class: good ? "sign good" : "sign bad" }, icon(good ? "check" : "cross", 14)) : h("span", { class: "sign" }, h("span", { class: "spinner" })), h("span", {}, c.title));
}

export function counts(f) {
  return h("span", { class: "counts", title: words.lines(f.added, f.removed) }, h("span", { class: "hidden-visually" }, words.lines(f.added, f.removed)), h("b", { class: "plus", "aria-hidden": "true" }, `+${f.added}`), f.removed ? h("b", { class: "less", "aria-hidden": "true" }, `−${f.removed}`) : null);
}

// diff shows a unified diff without its heads, which no line of a file can look like: "@@" follows them. Added and removed lines differ by their first character, and in color.
export function diff(text, label) {
  const kinds = { "+": "added", "-": "removed", "@": "hunk", "\\": "hunk" };
  const lines = (text ?? "").replace(/^(diff .*\n)?(index .*\n)?--- .*\n\+\+\+ .*\n(?=@@ )/gm, "").replace(/\n$/, "").split("\n");
  return h("pre", { class: "diff", tabIndex: 0, role: "region", "aria-label": label }, lines.map((line) => h("span", { class: kinds[line[0]] ?? "" }, line || " ")));
}

export function output(text, label) {
  return h("pre", { class: "output", tabIndex: 0, role: "region", "aria-label": label }, text?.trim() ? text.replace(/\n+$/, "") : words.noOutput);
}
