// What follows an answer: the page that it was about, undoing what it changed, and requests that it proposes as buttons.

import { button, h, icon } from "../page/dom.js";
import { newID } from "../page/api.js";
import { pathOf } from "./subject.js";
import { texts } from "../page/texts.js";
import { words } from "./words.js";

const writes = /create|update|add|sync|clone|upsert|remove|set|plan\./i;

export class Answers {
  constructor(page, base) {
    Object.assign(this, { page, base, shown: new Map() });
  }

  changed() {
    const { page } = this;
    const runs = new Map();
    for (const item of page.model.items.values()) {
      if (!item.group) continue;
      const id = item.group.replace(/\.\d+$/, "");
      const run = runs.get(id) ?? { path: "", undo: false, group: "" };
      runs.set(id, run);
      if (item.kind === "text" || item.kind === "call") run.group = item.group;
      if (item.kind !== "call" || item.status !== "ok") continue;
      run.undo ||= Boolean(item.undoable && !item.undone);
      if (writes.test(item.name)) run.path = pathOf(item.name, item.input, item.result) || run.path;
    }
    const active = ["running", "paused"].includes(page.model.state.status) ? [...runs.keys()].at(-1) : "";
    for (const [id, run] of runs) {
      const tools = page.conversation.turns.get(run.group)?.tools;
      const key = id === active || !tools ? "" : `${run.group} ${run.path} ${run.undo}`;
      const known = this.shown.get(id);
      if (known?.key === key && (!key || known.element.isConnected)) continue;
      known?.element?.remove();
      this.shown.set(id, key ? { key, element: this.after(id, run) } : {});
      if (key && (run.path || run.undo)) tools.append(this.shown.get(id).element);
    }
    this.requests();
  }

  after(id, { path, undo }) {
    const open = path && this.base ? h("a", { class: "button quiet", href: this.base + path, target: "_blank", rel: "noopener" }, icon("open", 14), words.openPage) : "";
    return h("span", { class: "after" }, open, undo ? button([icon("undo", 14), texts.undo], () => this.page.undoing.open([id]), "quiet undo") : "");
  }

  // begin shows the beginning of a list that is longer than the view, with the message that asked for it.
  begin(turn) {
    const { follower, scroller } = this.page;
    if (turn.nextElementSibling || !follower.following || turn.offsetHeight < scroller.clientHeight) return;
    follower.following = false;
    scroller.scrollTop += turn.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 88;
  }

  // requests makes buttons of the items of a list that are only a code span: requests that somebody may send.
  requests() {
    let last = null;
    for (const code of this.page.conversation.element.querySelectorAll(".part .prose:not(.streaming) li > code:only-child")) {
      const text = code.textContent.trim();
      if (code.parentElement.textContent.trim() !== text) continue;
      const { composer } = this.page;
      const gap = /…|\.\.\./.test(text);
      const go = () => (gap ? (composer.fill(text, composer.attached), composer.focus()) : composer.send({ text, files: [], key: newID() }));
      last = code.closest(".turn");
      code.replaceWith(button([h("span", {}, text), icon(gap ? "pen" : "send", 14)], go, "request", { title: gap ? words.fillIn : words.sendIt }));
    }
    if (last) requestAnimationFrame(() => requestAnimationFrame(() => this.begin(last))); // it has its height by then
  }
}
