// The editor of a text: it saves by itself, shows a preview, and loses nothing when somebody else has changed the text meanwhile.

import { button, h, remembered, trusted } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { api } from "./api.js";
import { countWords, difference } from "./diff.js";
import { toolbar } from "./toolbar.js";

const pause = 1000; // ms without a key before it saves
const plain = (text) => text.replace(/\r\n?/g, "\n"); // as a field has it

export class Editor {
  // page has id, a, refresh() and stopEditing().
  constructor(page) {
    const { a } = page, kept = remembered.get(`content.unsaved.${a.id}`);
    Object.assign(this, { page, path: `/api/artifacts/${a.id}`, store: `content.unsaved.${a.id}` });
    this.based(a);
    this.area = h("textarea", { class: "writing", value: kept ?? a.content, maxLength: 100000, spellcheck: true, "aria-label": "Text", "data-testid": "editor", oninput: () => this.changed(), onblur: () => this.save() });
    this.state = h("span", { class: "state small", role: "status", "data-testid": "save-state" });
    this.words = h("span", { class: "muted small", "data-testid": "word-count" });
    this.preview = h("div", { class: "prose preview", role: "region", "aria-label": "Preview", tabIndex: 0, "data-testid": "preview", hidden: true });
    this.toggle = button("Preview", () => this.show(this.preview.hidden), "", { "aria-pressed": "false", "data-testid": "preview-button" });
    const keys = (e) => {
      if (e.key === "s" && (e.ctrlKey || e.metaKey)) this.save(e.preventDefault());
      else if (e.key === "Escape" && !e.target.closest("[popover]")) page.stopEditing();
    };
    this.element = h("section", { class: "panel editor-panel", "aria-label": "Editor", onkeydown: keys }, h("div", { class: "editor-bar" }, toolbar(this.area), h("span", { class: "spring" }), this.words, this.state, this.toggle, button("Done", () => page.stopEditing(), "primary")), h("div", { class: "panes" }, this.area, this.preview));
    this.note("Saved");
    this.count();
    if (this.dirty) this.changed();
    this.unload = (e) => this.dirty && (this.keep(), e.preventDefault());
    addEventListener("beforeunload", this.unload);
  }

  // based says what the text is a change of. The next save is a version of its own.
  based(a) {
    Object.assign(this, { saved: plain(a.content), seen: a.updatedAt, fresh: true });
  }

  // replace shows another text, which is saved.
  replace(a) {
    this.based(a);
    this.area.value = a.content;
    remembered.set(this.store, null);
    this.count();
    this.note("Saved");
    if (!this.preview.hidden) this.draw();
  }

  get dirty() {
    return this.area.value !== this.saved;
  }

  note(text, bad = false) {
    this.state.textContent = text;
    this.state.classList.toggle("bad", bad);
  }

  count() {
    const n = countWords(this.area.value);
    this.words.textContent = n === 1 ? "1 word" : `${count(n)} words`;
  }

  changed() {
    this.count();
    this.note("Not saved yet");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.save(), this.preview.hidden || this.draw()), pause);
  }

  // save saves what has changed, and reports whether all is saved. Saves of one sitting are one version.
  async save() {
    clearTimeout(this.timer);
    if (this.saving) await this.saving;
    if (!this.dirty) return true;
    if (this.conflict) return false;
    this.saving = this.put(this.area.value).finally(() => (this.saving = null));
    return this.saving;
  }

  async put(text) {
    this.note("Saving …");
    try {
      const a = await api("PATCH", this.path, { content: text, updatedAt: this.seen, newVersion: this.fresh });
      Object.assign(this, { saved: text, seen: a.updatedAt, fresh: false });
      remembered.set(this.store, null);
      this.page.take(a);
      this.note(this.dirty ? "Not saved yet" : "Saved");
      return true;
    } catch (problem) {
      this.keep();
      const now = problem.category === "CONFLICT" ? await api("GET", this.path).catch(() => null) : null;
      if (now && plain(now.content) !== this.saved) return this.decide(now), false;
      if (now) this.seen = now.updatedAt; // only its title or tone has changed
      this.note(`Not saved: ${problem.message}`, true);
      this.timer = setTimeout(() => this.save(), 5000);
      return false;
    }
  }

  // keep keeps what isn't saved in the browser.
  keep() {
    if (this.dirty) remembered.set(this.store, this.area.value);
  }

  // loaded takes a text that has changed on the server.
  loaded(a) {
    if (this.saving || this.conflict) return;
    if (plain(a.content) === this.saved) this.seen = a.updatedAt;
    else if (this.dirty) this.decide(a);
    else this.replace(a);
  }

  // decide shows both versions side by side, after a conflict.
  decide(theirs) {
    const panes = this.element.querySelector(".panes"), mine = h("textarea", { class: "writing", value: this.area.value, "aria-label": "Your text", "data-testid": "mine" });
    const settle = (run) => async () => {
      try {
        await run();
        box.remove();
        this.conflict = panes.hidden = false;
        this.area.focus();
        if (await this.save()) this.page.refresh();
      } catch (problem) {
        this.note(`Not saved: ${problem.message}`, true);
      }
    };
    const keepMine = settle(() => (this.based(theirs), (this.area.value = mine.value)));
    const takeTheirs = settle(async () => { // mine becomes a version, and theirs is put back over it
      const { versions } = await api("GET", `${this.path}/versions`);
      await api("PATCH", this.path, { content: mine.value, updatedAt: theirs.updatedAt, newVersion: true });
      this.replace(await api("POST", `${this.path}/versions/${versions[0].number}/restore`, {}));
    });
    const box = h("div", { class: "conflict", role: "alertdialog", "aria-label": "Two versions", "data-testid": "conflict" },
      h("p", {}, h("b", {}, "The text was changed elsewhere while you wrote."), " Whichever you keep, the other one stays among the versions. You can also merge them by hand: change yours, then keep it."),
      h("div", { class: "row" }, button("Keep mine", keepMine, "primary"), button("Take theirs", takeTheirs)),
      h("div", { class: "both" }, h("div", { class: "field" }, h("h2", { class: "name" }, "Yours"), mine), h("div", { class: "field" }, h("h2", { class: "name" }, "Theirs, compared with yours"), difference(this.area.value, theirs.content, "Their text"))));
    this.note("Not saved: the text has changed meanwhile", true);
    this.conflict = panes.hidden = true;
    this.element.append(box);
    mine.setSelectionRange(0, 0);
    mine.focus({ preventScroll: true });
    box.scrollIntoView({ block: "nearest" });
  }

  show(on) {
    this.preview.hidden = !on;
    this.element.classList.toggle("with-preview", on);
    this.toggle.setAttribute("aria-pressed", String(on));
    on ? this.draw() : this.area.focus();
  }

  draw() {
    return api("POST", `${this.path}/preview`, { content: this.area.value }).then(({ html }) => trusted(this.preview, `<div class="block">${html}</div>`), (problem) => (this.preview.textContent = problem.message));
  }

  close() {
    clearTimeout(this.timer);
    removeEventListener("beforeunload", this.unload);
  }
}
