// The board: the plan with its steps, what came out, what is beside it, and what is allowed.

import { h, icon } from "../page/dom.js";
import { texts } from "../page/texts.js";
import { Decision } from "./decision.js";
import { askOf, read } from "./model.js";
import { beside, notices, outcome, permissions, undoDialog } from "./outcome.js";
import { Step } from "./step.js";
import { words } from "./words.js";

export class Board {
  // app has session(), own, say(text), problem(problem), announce(text), inChat(id), waits(asks) and beside(text).
  constructor(app) {
    this.app = app;
    this.heading = h("h2", { tabIndex: -1 }, words.board);
    this.state = h("button", { type: "button", class: "state", disabled: true, onclick: () => this.go() });
    this.undo = undoDialog(app);
    this.places = Object.fromEntries(["done", "background", "plan", "grants", "notices"].map((name) => [name, h("div", { class: `place-${name}` })]));
    this.scroller = h("div", { class: "board-scroller" }, h("div", { class: "board-column" }, Object.values(this.places)));
    this.parts = [h("header", { class: "area-head" }, this.heading, this.state), this.scroller, this.undo.element];
    this.clear();
  }

  session = () => this.app.session();
  run = () => this.view?.run ?? "";
  inChat = (id) => this.app.inChat(id);

  // clear shows that nothing is known.
  clear() {
    this.board = {};
    this.shown = {};
    this.live = false;
    this.decisions = new Map();
    this.apply({}, false);
    for (const name of ["done", "background", "grants"]) this.places[name].replaceChildren();
  }

  // apply takes the parts that have changed; all of them, if the message is the first of a connection.
  apply(parts, whole) {
    const news = this.live && !whole;
    this.live = true;
    const before = this.board;
    this.board = whole ? parts : { ...this.board, ...parts };
    const { done, background, grants } = this.board;
    if (news) this.tell(parts.background ?? [], before.background ?? []);
    const asks = (this.board.asks ?? []).map(askOf);
    this.view = read(this.board);
    this.plan(this.view, asks, news);
    this.keep("done", done && !this.view?.undone ? done : null, () => outcome(done, this.app.own, () => this.undo.open(done.files ?? [], this.run())));
    this.keep("background", background?.length ? background : null, () => beside(background));
    this.keep("grants", this.board.plan === undefined ? null : (grants ?? []), () => permissions(grants ?? [], this.app));
    this.keep("notices", this.view ? this.app.own : null, () => h("div", {}, notices(this.app.own)));
    this.app.waits(asks);
  }

  // tell tells of work beside the plan that has begun or ended.
  tell(works, before) {
    for (const w of works) {
      const old = before.find((b) => b.id === w.id);
      if (!old) this.app.beside(words.besideBegun);
      else if (old.state !== w.state && w.state === "completed") this.app.beside(words.besideDone(w.member));
    }
  }

  // keep shows a place again, if what it shows has changed.
  keep(name, value, make) {
    const now = JSON.stringify(value ?? null);
    if (this.shown[name] === now) return;
    this.shown[name] = now;
    const focused = this.places[name].contains(document.activeElement);
    this.places[name].replaceChildren(...(value ? [make()] : []));
    if (focused) this.heading.focus({ preventScroll: true });
  }

  plan(view, asks, news) {
    if (!view) {
      if (this.shown.plan !== "") this.places.plan.replaceChildren(this.empty());
      this.shown.plan = "";
      this.state.disabled = true;
      this.state.replaceChildren();
      return;
    }
    const frame = JSON.stringify([view.version, view.title, view.layers]);
    if (this.shown.plan !== frame) this.frame(view);
    this.shown.plan = frame;
    this.head(view, asks);
    for (const step of view.steps) {
      const card = this.steps.get(step.id);
      if (news && card.status && card.status !== step.status && step.status !== "pending") this.app.announce(words.stepNow(step.work, words.step[step.status] ?? step.status));
      card.status = step.status;
      card.update(step);
    }
    this.ask(asks);
  }

  // frame makes the layers of a plan.
  frame(view) {
    this.shown.head = "";
    this.summary = h("div", { class: "plan-head" });
    this.decide = h("div", { class: "plan-ask" });
    this.steps = new Map(view.steps.map((s) => [s.id, new Step(s.id)]));
    const layers = view.layers.map((ids, i) => h("li", { class: ids.length > 1 ? "layer wide" : "layer", "aria-label": words.layer(i + 1, ids.length) }, h("span", { class: "stage", "aria-hidden": "true" }, String(i + 1), ids.length > 1 ? h("small", {}, words.together) : null), h("ul", { class: "cards" }, ids.map((id) => this.steps.get(id).element))));
    const gone = view.removed.length ? h("ul", { class: "gone" }, view.removed.map((s) => h("li", {}, icon("minus", 14), h("span", { class: "mark removed" }, words.changes.removed), h("s", {}, s.work), h("span", { class: "muted" }, words.who(s.who))))) : null;
    this.places.plan.replaceChildren(h("section", { class: "the-plan", "aria-label": view.title }, this.summary, h("ol", { class: "layers" }, layers), gone, this.decide));
  }

  head(view, asks) {
    const { steps, status } = view;
    const done = steps.filter((s) => ["done", "waived"].includes(s.status)).length;
    const changes = { removed: view.removed.length };
    for (const kind of ["added", "changed"]) changes[kind] = steps.filter((s) => s.change === kind).length;
    const now = JSON.stringify([view.why, view.reason, view.run, status, done, changes, asks.length > 0]);
    if (this.shown.head === now) return;
    this.shown.head = now;
    const look = { completed: "good", failed: "bad", rejected: "bad", canceled: "bad", proposed: "warn", approval: "warn", waiting: "warn" }[status] ?? "";
    this.state.className = `state ${look}`;
    this.state.disabled = asks.length === 0;
    this.state.replaceChildren(["changing", "starting", "running", "undoing"].includes(status) ? h("span", { class: "spinner" }) : "", words.status[status] ?? status);
    this.summary.replaceChildren(
      ...[
        h("div", { class: "plan-title" }, h("h2", {}, view.title), h("span", { class: view.version > 1 ? "version newer" : "version" }, words.version(view.version))),
        view.why ? h("p", { class: "why" }, view.why) : null,
        view.version > 1 && !view.run ? h("p", { class: "since" }, words.since(view.version - 1, changes)) : null,
        view.undone ? h("p", {}, words.undone) : view.run ? h("div", { class: "plan-progress" }, h("progress", { max: steps.length, value: done, "aria-label": words.progress(done, steps.length) }), h("span", { class: "muted" }, words.progress(done, steps.length))) : h("p", { class: "muted small" }, words.size(steps.length, view.layers.length)),
        view.reason ? h("p", { class: "reason" }, view.reason) : null,
      ].filter(Boolean),
    );
  }

  // ask puts each decision to where it belongs: to the plan, or to a step. One that is still asked stays as it is, unless what was decided couldn't be used.
  ask(asks) {
    const wanted = new Map(asks.map((a) => [a.id, a]));
    for (const [id, d] of this.decisions) {
      if (wanted.get(id)?.refused === d.ask.refused && wanted.has(id)) continue;
      const focused = d.element.contains(document.activeElement) || d.focused;
      d.element.remove();
      this.decisions.delete(id);
      if (focused) this.heading.focus({ preventScroll: true });
    }
    for (const a of asks) {
      const known = this.decisions.get(a.id);
      const place = a.node ? this.steps.get(a.node)?.ask : this.decide;
      if (!place) continue;
      if (!known) {
        const d = new Decision(a, { session: this.session, run: this.run, inChat: this.inChat, decided: (d) => (d.focused = true) });
        this.decisions.set(a.id, d);
        place.append(d.element);
        this.app.announce(texts.youAreAsked(d.title()));
        if (!document.activeElement?.closest(".decision")) d.element.scrollIntoView({ block: "nearest" });
      } else if (known.element.parentElement !== place) {
        place.append(known.element);
      }
    }
  }

  // see shows a decision that waits further down, when the board has come into view.
  see() {
    [...this.decisions.values()][0]?.element.scrollIntoView({ block: "nearest" });
  }

  // go moves to a decision.
  go(id) {
    const d = this.decisions.get(id) ?? [...this.decisions.values()][0];
    d?.element.scrollIntoView({ block: "center" });
    d?.element.querySelector("button")?.focus({ preventScroll: true });
  }

  // empty says what will be here.
  empty() {
    return h(
      "div",
      { class: "how" },
      h("h2", {}, words.nothing),
      h("p", { class: "explain" }, words.nothingText),
      h("ul", { class: "roles" }, words.roles.map(([who, what]) => h("li", {}, h("i", { "aria-hidden": "true", "data-who": who }, words.who(who)[0]), h("span", {}, h("b", {}, words.who(who)), h("span", { class: "explain" }, what))))),
    );
  }
}
