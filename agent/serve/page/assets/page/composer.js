// Where messages are written. While the agent works, the same field adds notes to its task, and a stop button is beside it.

import { newID } from "./api.js";
import { button, h, icon, iconButton, remembered } from "./dom.js";
import { bytes, duration } from "./format.js";
import { fileChip } from "./messages.js";
import { texts } from "./texts.js";

export class Composer {
  // app has send({text, files, key, mode, supersede}), which fails with a Problem, stop(), session() and mode(name).
  constructor(app, config) {
    Object.assign(this, { app, config, attached: [], running: false, paused: false, busy: false });
    this.text = h("textarea", { rows: 1, "aria-label": texts.write, placeholder: texts.write, oninput: () => this.typed(), onkeydown: (e) => this.key(e), onpaste: (e) => this.take(e.clipboardData.files, e) });
    this.chips = h("div", { class: "files", hidden: true });
    this.trouble = h("div", { class: "trouble", role: "alert", hidden: true });
    this.chooser = h("input", { type: "file", multiple: true, hidden: true, tabIndex: -1, onchange: () => this.take(this.chooser.files) });
    this.attach = iconButton("clip", texts.attach, () => this.chooser.click(), { hidden: config.limits.files === 0 });
    this.modes = h("select", { "aria-label": texts.mode, title: texts.mode, hidden: config.modes.length === 0, onchange: () => app.mode(this.modes.value) }, config.modes.map((m) => h("option", { value: m.name, title: m.description ?? "" }, m.name)));
    this.halt = button([icon("stop", 14), texts.stop], () => this.stop(), "", { hidden: true });
    this.go = button(icon("send", 18), null, "primary", { type: "submit", title: texts.send, "aria-label": texts.send });
    this.hint = h("span", { class: "hint" }, texts.enterHint);
    this.form = h(
      "form",
      { class: "composer", onsubmit: (e) => this.submit(e), noValidate: true },
      this.trouble,
      this.chips,
      this.text,
      this.chooser,
      h("div", { class: "row" }, this.attach, this.modes, this.hint, h("span", { class: "space" }), this.halt, this.go),
    );
    for (const name of ["dragover", "dragleave", "drop"]) this.form.addEventListener(name, (e) => this.drag(e));
    this.readOnly = h("p", { class: "read-only", hidden: true }, texts.readOnly);
    this.element = h("div", {}, this.form, this.readOnly);
    this.typed();
  }

  // open shows the draft of a session.
  open(session) {
    this.draft = `draft.${session || "new"}`;
    this.text.value = remembered.get(this.draft) ?? "";
    this.attached = [];
    this.complain();
    this.show();
    this.resize();
  }

  // set says what the session is doing.
  set({ running, paused, readOnly, mode, gone }) {
    const ended = this.running && !running;
    Object.assign(this, { running, paused });
    if (ended) this.stopping = false;
    if (mode && this.modes.value !== mode) this.modes.value = mode;
    this.form.hidden = readOnly || gone;
    this.readOnly.hidden = !readOnly || gone;
    this.show();
  }

  show() {
    const label = this.running ? texts.sendNote : texts.send;
    const placeholder = this.running ? texts.steer : this.paused ? texts.answerPaused : texts.write;
    if (this.text.placeholder !== placeholder) this.text.placeholder = placeholder;
    this.text.setAttribute("aria-label", placeholder);
    this.go.title = label;
    this.go.setAttribute("aria-label", label);
    this.go.disabled = this.busy || (!this.text.value.trim() && this.attached.length === 0);
    this.halt.hidden = !this.running;
    this.halt.disabled = Boolean(this.stopping);
    this.halt.lastChild.textContent = this.stopping ? texts.stopping : texts.stop;
    this.hint.hidden = this.running;
    this.attach.disabled = this.running;
    this.chips.hidden = this.attached.length === 0;
    this.chips.replaceChildren(...this.attached.map((f) => fileChip(f, iconButton("close", texts.remove(f.name), () => this.detach(f)))));
  }

  typed() {
    if (this.draft) remembered.set(this.draft, this.text.value);
    this.again = null;
    this.resize();
    this.show();
  }

  resize() {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
  }

  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit();
  }

  // complain says what keeps the message from being sent; with nothing, that it can be.
  complain(text, ...more) {
    clearInterval(this.counting);
    this.trouble.hidden = !text;
    this.trouble.replaceChildren(...(text ? [h("span", {}, text), ...more] : []));
  }

  // take attaches files.
  async take(list, event) {
    if (!list?.length) return;
    event?.preventDefault();
    const limits = this.config.limits;
    for (const file of [...list]) {
      if (this.running) return this.complain(texts.noFilesNow);
      if (this.attached.length >= limits.files) return this.complain(texts.tooManyFiles(limits.files));
      if (file.size === 0) return this.complain(texts.fileEmpty(file.name));
      if (this.attached.reduce((sum, f) => sum + f.size, file.size) > limits.file_bytes) return this.complain(texts.filesTooLarge(bytes(limits.file_bytes)));
      this.attached.push({ name: file.name, type: file.type, size: file.size, data: await base64(file) });
      this.complain();
      this.show();
    }
    this.chooser.value = "";
    this.text.focus();
  }

  detach(file) {
    this.attached = this.attached.filter((f) => f !== file);
    this.complain();
    this.show();
    this.text.focus();
  }

  drag(event) {
    if (!event.dataTransfer?.types.includes("Files") || this.config.limits.files === 0) return;
    event.preventDefault();
    this.form.classList.toggle("drop", event.type === "dragover");
    if (event.type === "drop") this.take(event.dataTransfer.files);
  }

  submit(event, supersede = false) {
    event?.preventDefault();
    const text = this.text.value.trim();
    if (this.busy || (!text && this.attached.length === 0)) return;
    const max = this.config.limits.message;
    if (new TextEncoder().encode(text).length > max) return this.complain(texts.tooLong(bytes(max)));
    if (this.running && this.attached.length > 0) return this.complain(texts.noFilesNow);
    this.complain();
    // A message that is sent again has the same key, so that nothing is started twice.
    const message = { text, files: this.attached, key: this.again?.text === text ? this.again.key : newID(), supersede };
    this.fill("", []);
    this.send(message);
  }

  fill(text, attached) {
    this.text.value = text;
    this.attached = attached;
    this.typed();
  }

  // putBack puts texts that weren't read before what is being written.
  putBack(list) {
    this.fill([...list, this.text.value].filter(Boolean).join("\n\n"), this.attached);
  }

  async send(message) {
    const draft = this.draft;
    try {
      await this.app.send({ ...message, mode: this.mode });
    } catch (problem) {
      if (problem.code === "read_only") return;
      if (this.draft === draft && !this.text.value) {
        this.fill(message.text, message.files);
        this.again = message;
      }
      const open = { paused: texts.openDecisions, interrupted: texts.interrupted }[problem.code];
      if (open) this.complain(open, button(texts.sendAnyway, () => this.submit(null, true)));
      else if (problem.status === 429 && problem.retry) this.later(problem);
      else this.complain(problem.message, problem.trace && problem.status >= 500 ? h("span", { class: "muted" }, texts.problem.trace(problem.trace)) : "");
      this.text.focus();
    }
  }

  // later says in how many seconds the message can be sent, and is gone then.
  later({ message, retry }) {
    const until = Date.now() + 1000 * retry;
    const left = h("span", { role: "timer" });
    const tick = () => {
      const ms = 1000 * Math.ceil((until - Date.now()) / 1000);
      if (ms <= 0) return this.complain();
      left.textContent = texts.tryIn(duration(ms));
    };
    this.complain(message, left);
    this.counting = setInterval(tick, 1000);
    tick();
  }

  async stop() {
    this.stopping = true;
    this.show();
    try {
      await this.app.stop();
    } catch (problem) {
      if (problem.code !== "idle") this.complain(problem.message);
      this.stopping = false;
      this.show();
    }
    this.text.focus();
  }

  get mode() {
    return this.modes.hidden ? "" : this.modes.value;
  }

  focus() {
    this.text.focus({ preventScroll: true });
  }
}

async function base64(file) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}
