// The site beside the chat. A rendered page loads itself again when the site changes; here it is decided which page is shown.

import { h, icon, iconButton } from "../page/dom.js";
import { words } from "./words.js";

export class Preview {
  constructor(base) {
    this.base = base;
    this.calls = new Map();
    this.address = h("input", { class: "address", type: "text", spellcheck: false, autocomplete: "off", "aria-label": words.address });
    this.link = h("a", { class: "icon-button", target: "_blank", rel: "noopener", title: words.openPreview, "aria-label": words.openPreview }, icon("open", 18));
    this.phone = iconButton("phone", words.phone, () => this.narrow(), { "aria-pressed": "false" });
    this.frame = h("iframe", {});
    this.place = h("div", { class: "frame" }, this.frame);
    const form = h("form", { class: "go", onsubmit: (e) => (e.preventDefault(), this.type()) }, this.address);
    const heading = h("h2", {}, words.areas.preview);
    this.parts = base ? [h("header", { class: "area-head" }, heading, form, iconButton("reload", words.reload, () => this.load()), this.phone, this.link), this.place] : [h("header", { class: "area-head" }, heading), h("div", { class: "blank" }, h("p", {}, words.previewNone))];
    // A page says where it is: somebody may have followed a link in it.
    addEventListener("message", (e) => e.source === this.frame.contentWindow && e.origin === new URL(base).origin && typeof e.data?.page === "string" && this.at(e.data.page));
  }

  // start shows the first page; the frame has to be in its place.
  start() {
    this.go("/pages/home");
  }

  // event follows what the assistant touches: the page shown is the one it read or changed last.
  event(e) {
    if (e.type === "user-message") this.calls.clear();
    if (e.type === "tool-input-available") this.calls.set(e.toolCallId, e.input);
    if (e.type !== "tool-result" || !e.success) return;
    const planned = e.toolName.startsWith("plan.");
    if (!planned && (!/[pP]age|[sS]ection|Contents/.test(e.toolName) || /listPages|Def|Elements/.test(e.toolName))) return;
    const output = planned ? answerOf(e.output) : e.output && typeof e.output === "object" ? e.output : {};
    const input = this.calls.get(e.toolCallId) ?? {};
    const linked = /\/pages\/([a-z0-9-]+)/.exec(output.url ?? "")?.[1];
    const slug = [linked, output.slug, output.page?.slug, output.page, input.slug, input.page, input.id].find((s) => typeof s === "string" && /^[a-z0-9-]{2,64}$/.test(s) && !/^[0-9a-f]{8}-/.test(s));
    if (slug) this.go(`/pages/${slug}`);
  }

  go(path) {
    if (path === this.path?.split("?")[0]) return;
    this.path = path;
    this.load();
  }

  // type goes to what somebody has typed: a path, or the name in it.
  type() {
    const typed = this.address.value.trim().replace(/^https?:\/\/[^/]*/, "");
    this.path = typed.startsWith("/") ? typed : `/pages/${typed || "home"}`;
    this.load();
  }

  at(path) {
    this.path = path;
    this.link.href = this.base + path;
    if (document.activeElement !== this.address) this.address.value = path;
  }

  narrow() {
    const narrow = this.place.classList.toggle("narrow");
    this.phone.setAttribute("aria-pressed", String(narrow));
  }

  load() {
    if (!this.base) return;
    // A new frame each time: a page that is just reloading itself, because the site has changed, would win over another address.
    const frame = h("iframe", { sandbox: "allow-scripts allow-same-origin", title: words.frame(this.path), src: this.base + this.path });
    this.frame.replaceWith(frame);
    this.frame = frame;
    this.at(this.path);
  }
}

// answerOf returns what the last step of a plan answered that has a page.
function answerOf(report) {
  for (const [, json] of [...String(report).matchAll(/^\S+ answered: ({.*})$/gm)].reverse()) {
    try {
      const answer = JSON.parse(json);
      if (answer.slug || answer.page) return answer;
    } catch {
      // a long answer is cut
    }
  }
  return {};
}
