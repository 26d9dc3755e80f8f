// What the page knows of a session: its items and its state. Patches of the server change it. There is nothing of the DOM in here.

const silence = 20000; // in ms: after it, a model that has not begun is called so

export class Model {
  constructor() {
    this.heard = Date.now(); // the last patch; Infinity without a connection
    this.items = new Map();
    this.state = { status: "", code: "", mode: "", title: "", waiting: null };
  }

  // apply changes the model, and returns what has changed: {item, fresh}, {dropped}, {blocks} or {state}; {reload} if it can't be changed.
  apply(patch) {
    this.heard = Date.now();
    if (patch.item) return this.put(patch.item);
    if (patch.blocks) return { blocks: patch.blocks, item: this.items.get(patch.blocks.id) };
    if (patch.drop) return { dropped: this.drop() };
    if (patch.replaced) return this.state.older > patch.replaced ? { reload: true } : { dropped: this.replaced(patch.replaced) };
    const state = this.state;
    if (patch.state) {
      state.waiting = null;
      const { active, ...rest } = patch.state;
      if (rest.status) state.code = "";
      Object.assign(state, rest);
    }
    return { state };
  }

  put(change) {
    let item = this.items.get(change.id);
    const fresh = !item;
    if (fresh && ((change.kind === "call" && !change.name) || (change.kind === "pause" && !change.pause))) return {}; // a change of an older item that isn't shown
    if (fresh) this.items.set(change.id, (item = {}));
    if (change.status) {
      delete item.wait;
      delete item.progress;
    }
    Object.assign(item, change);
    return { item, fresh };
  }

  // drop removes what the model was writing.
  drop() {
    const dropped = [...this.items.values()].filter(isDraft);
    for (const item of dropped) this.items.delete(item.id);
    return dropped;
  }

  // from returns the items from the message on with which a run began, by the number of its fact.
  from(fact) {
    const items = [...this.items.values()];
    const first = items.findIndex((i) => i.fact >= fact);
    return first < 0 ? [] : items.slice(first);
  }

  // replaced removes what another message takes the place of.
  replaced(fact) {
    const dropped = this.from(fact);
    for (const item of dropped) this.items.delete(item.id);
    return dropped;
  }

  // changed returns the calls among items whose effects can be undone.
  changed(items) {
    return items.filter((i) => i.kind === "call" && i.undoable && !i.undone);
  }

  // open returns the pauses that wait for a decision.
  open() {
    return [...this.items.values()].filter((item) => item.kind === "pause" && this.isOpen(item));
  }

  // asked returns those that wait for a person.
  asked() {
    return this.open().filter((item) => !item.pause.for);
  }

  // isOpen reports whether a pause waits: it wasn't decided, and its call isn't over for another reason.
  isOpen(item) {
    if (!item.pause || item.decision) return false;
    const call = this.items.get(item.pause.call);
    return !call || !call.status || ["writing", "ready", "running"].includes(call.status);
  }

  // undoable returns the calls of the last run whose effects can be undone, once the run is over.
  undoable() {
    if (!["completed", "stopped", "failed"].includes(this.state.status)) return [];
    const items = [...this.items.values()];
    const from = items.findLastIndex((i) => i.kind === "user" && !i.steered);
    return this.changed(items.slice(from + 1));
  }

  // activity says what the agent is doing now.
  activity() {
    const { status, waiting } = this.state;
    const open = this.asked().length;
    if (open > 0 && status !== "running") return { kind: "asks", count: open };
    if (status !== "running") return { kind: "none" };
    if (waiting) return { kind: "waits", wait: waiting };
    const items = [...this.items.values()];
    const calls = items.filter((i) => i.kind === "call" && i.status === "running" && !this.suspends(i)).length;
    if (calls > 0) return { kind: "calls", count: calls };
    if (open > 0) return { kind: "asks", count: open };
    const drafts = items.filter(isDraft);
    if (drafts.some((i) => i.kind === "text")) return { kind: "none" }; // the text has a caret
    if (drafts.length > 0) return { kind: "writes" };
    return { kind: "thinks", silent: Date.now() - this.heard >= silence };
  }

  // suspends reports whether a call waits for a decision.
  suspends(call) {
    return this.open().some((p) => p.pause.call === call.id);
  }
}

function isDraft(item) {
  return item.kind === "call" ? item.status === "writing" : (item.kind === "text" || item.kind === "reasoning") && !item.done;
}
