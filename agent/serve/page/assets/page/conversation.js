// Shows the items of a session in order, and changes only what a patch changes.

import { Approval } from "./approval.js";
import { Call, CallGroup } from "./call.js";
import { button, h, icon, iconButton } from "./dom.js";
import { duration } from "./format.js";
import { User } from "./edit.js";
import { Prose, ages, copy, files, notice, onCode, source } from "./messages.js";
import { Plan } from "./plan.js";
import { undoButton } from "./undo.js";
import { texts } from "./texts.js";

const beside = ["compacted", "mode", "undone", "notice"]; // notices that aren't about a run's end

export class Conversation {
  // app has session(), say(text), announce(text), retry(item), resume(), goOn(), reload(), undo(), older(), replace(item, text), fixed() and item(item).
  constructor(model, app) {
    Object.assign(this, { model, app, views: new Map(), turns: new Map(), live: false });
    this.undo = undoButton(() => app.undo());
    this.again = iconButton("reload", texts.regenerate, () => app.retry(this.last), { class: "icon-button again" });
    this.earlier = h("div", { class: "older", hidden: true }, button([icon("up", 14), texts.older], () => app.older()));
    this.items = h("div", {});
    this.sending = h("div", {});
    this.activity = h("div", { class: "activity" });
    this.element = h("div", { class: "column" }, this.earlier, this.items, this.sending, this.activity);
    this.element.addEventListener("click", (event) => onCode(event, app.say));
  }

  // apply shows patches. live says that they are news, and not what was there when the page was opened.
  apply(patches, live) {
    this.live = live;
    for (const patch of patches) this.change(patch);
    this.refresh();
  }

  change(patch) {
    const change = this.model.apply(patch);
    if (change.item && !change.blocks) this.put(change.item);
    if (change.blocks && change.item) this.views.get(change.item.id)?.blocks?.(change.blocks);
    for (const item of change.dropped ?? []) this.remove(item);
    if (change.reload) this.app.reload();
  }

  // prepend shows older items above the others. What was there before is newer.
  prepend({ patches, older }) {
    const { model, items } = this;
    const known = model.items;
    model.items = new Map();
    this.live = false;
    this.items = h("div", {});
    for (const patch of patches) if (!known.has((patch.item ?? patch.blocks)?.id)) this.change(patch);
    items.prepend(...this.items.childNodes);
    this.items = items;
    model.items = new Map([...model.items, ...known]);
    model.state.older = older;
    this.refresh();
  }

  // turn returns the element for the items of a model call: texts, calls and pauses, in that order.
  turn(id) {
    let turn = this.turns.get(id);
    if (!turn) {
      turn = { parts: h("div", { class: "parts" }), calls: new CallGroup(), pauses: h("div", { class: "pauses" }), tools: h("div", { class: "reply-tools" }) };
      turn.element = h("div", { class: "turn" }, turn.parts, turn.calls.element, turn.pauses, turn.tools);
      this.turns.set(id, turn);
      this.items.append(turn.element);
    }
    return turn;
  }

  put(item) {
    const view = this.views.get(item.id);
    if (view) {
      if (view.update) {
        const wasDraft = view.draft;
        view.update(item);
        view.draft = isOpenText(item);
        if (wasDraft && item.done) this.finished(item, view);
      }
      if (item.kind === "call") this.renewPauses(item.id);
      if (item.kind === "pause") this.renewCall(item);
      return;
    }
    const made = this.make(item);
    if (!made) return;
    made.draft = isOpenText(item);
    this.views.set(item.id, made);
    if (item.kind === "user" || item.kind === "notice") {
      this.items.append(made.element);
    } else {
      const turn = this.turn(item.group || item.id);
      const place = made.own ? turn.parts : item.kind === "call" ? turn.calls.list : item.kind === "pause" || item.kind === "plan" ? turn.pauses : turn.parts;
      this.insert(place, made.element, item);
      if (item.kind === "call" && !made.own) turn.calls.calls.add(made);
      if (item.kind === "text" && item.done) this.finished(item, made);
    }
    if (item.kind === "pause") this.asked(item, made);
  }

  // insert adds an element where its order wants it.
  insert(place, element, item) {
    element.dataset.order = item.order ?? 0;
    const next = [...place.children].find((el) => Number(el.dataset.order) > (item.order ?? 0));
    place.insertBefore(element, next ?? null);
  }

  make(item) {
    const own = this.app.item(item);
    if (own) return Object.assign(own, { own: true });
    switch (item.kind) {
      case "user":
        this.app.arrived(item);
        return new User(item, this.app);
      case "text":
      case "reasoning":
        return new Prose(item);
      case "call":
        return new Call(item, this.model);
      case "pause":
        return item.pause ? new Approval(item, this.model, this.app) : null;
      case "plan":
        return new Plan(item);
      case "source":
        return { element: h("div", { class: "part sources" }, source(item)) };
      case "file":
        return { element: h("div", { class: "part" }, files(item.files)) };
      case "notice": {
        const view = { element: h("div", { code: item.code }) };
        const { resume, goOn } = this.app;
        view.show = (last) => {
          if (view.last === last) return;
          view.last = last;
          view.element.replaceChildren(notice(item, { last, resume, retry: item.goOn ? goOn : this.message() && (() => this.app.retry(this.message())) }));
        };
        view.show(false);
        return view;
      }
    }
    return null;
  }

  // finished adds what a complete answer has, and reads it out.
  finished(item, view) {
    if (item.kind !== "text" || view.complete) return;
    view.complete = true;
    const turn = this.turn(item.group || item.id);
    if (!turn.tools.firstChild) {
      const all = () => [...turn.parts.querySelectorAll(":scope > .part > .prose")].map((p) => p.innerText).join("\n\n");
      turn.tools.append(iconButton("copy", texts.copyMessage, () => copy(all(), this.app.say)));
    }
    if (this.live) queueMicrotask(() => this.app.announce(texts.agentSays(view.text)));
  }

  asked(item, view) {
    this.renewCall(item);
    if (this.live && !item.pause?.for && this.model.isOpen(item)) this.app.announce(texts.youAreAsked(view.title));
  }

  renewCall(pause) {
    const call = this.model.items.get(pause.pause?.call);
    if (call) this.views.get(call.id)?.update(call);
  }

  renewPauses(call) {
    for (const item of this.model.items.values()) {
      if (item.kind === "pause" && item.pause?.call === call) this.views.get(item.id)?.update(item);
    }
  }

  remove(item) {
    this.views.get(item.id)?.element.remove();
    this.views.delete(item.id);
    const turn = this.turns.get(item.group || item.id);
    if (!turn || turn.element.querySelector(".part, .call, .card, .record, .plan")) return;
    turn.element.remove();
    this.turns.delete(item.group || item.id);
  }

  // firstText is the beginning of the first message: the title of a chat that has none yet. It is empty if the first message isn't shown.
  firstText() {
    if (this.model.state.older) return "";
    const text = [...this.model.items.values()].find((i) => i.kind === "user" && i.text)?.text.replace(/\s+/g, " ").trim() ?? "";
    return text.length > 60 ? `${text.slice(0, 60).trim()}…` : text;
  }

  // message returns the newest message of the user.
  message() {
    return [...this.model.items.values()].findLast((i) => i.kind === "user");
  }

  // refresh shows what depends on everything: what the agent is doing, and what comes last.
  refresh() {
    const last = this.items.lastElementChild;
    let end = last; // what it offers stays when notices come
    while (beside.includes(end?.code)) end = end.previousElementSibling;
    for (const turn of this.turns.values()) turn.calls.refresh();
    for (const view of this.views.values()) view.show?.(view.element === end && this.model.state.status !== "running");
    this.items.querySelector(":scope > .last")?.classList.remove("last");
    last?.classList.add("last");
    this.earlier.hidden = !this.model.state.older;
    this.offerAgain();
    this.offerUndo();
    const words = doing(this.model.activity());
    if (words !== this.words) {
      this.words = words;
      this.activity.replaceChildren(...(words ? [h("span", { class: "spinner" }), h("span", {}, words)] : []));
    }
  }

  // offerAgain puts the button that lets the agent answer again below the last answer.
  offerAgain() {
    const { model } = this;
    const asked = this.message();
    const over = asked?.fact && !["running", "paused", ""].includes(model.state.status);
    const message = over ? this.views.get(asked.id)?.element : null;
    const turn = message ? [...this.turns.values()].findLast((t) => message.compareDocumentPosition(t.element) & Node.DOCUMENT_POSITION_FOLLOWING) : null;
    if (!turn?.tools.firstChild) this.again.remove();
    else if (this.again.parentElement !== turn.tools) turn.tools.insertBefore(this.again, turn.tools.children[1] ?? null);
    this.element.classList.toggle("fixed", model.state.status === "running" || Boolean(this.app.fixed()));
    this.last = asked;
  }

  // offerUndo puts the button below the last answer, if there is something to undo.
  offerUndo() {
    const calls = this.model.undoable();
    const turn = calls.length > 0 ? [...this.turns.values()].findLast((t) => t.element.isConnected) : null;
    if (!turn) this.undo.remove();
    else if (this.undo.parentElement !== turn.tools) turn.tools.append(this.undo);
  }

  // tick is called once in a second: times pass.
  tick(minute) {
    this.refresh();
    for (const item of this.model.open()) this.views.get(item.id)?.tick?.();
    if (minute) ages(this.element);
  }

  firstOpen() {
    return this.views.get(this.model.asked()[0]?.id);
  }
}

function isOpenText(item) {
  return item.kind === "text" && !item.done;
}

// doing says in words what the agent is doing.
function doing(activity) {
  switch (activity.kind) {
    case "thinks":
      return activity.silent ? texts.silent : texts.thinking;
    case "writes":
      return texts.writing;
    case "calls":
      return texts.runningCalls(activity.count);
    case "waits": {
      const words = texts.waiting[activity.wait.reason] ?? texts.waiting.other;
      const ms = activity.wait.until ? new Date(activity.wait.until) - Date.now() : 0;
      return ms > 1000 ? texts.about(words, duration(Math.ceil(ms / 1000) * 1000)) : words;
    }
  }
  return ""; // nothing, or the cards say it
}
