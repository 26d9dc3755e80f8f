// The site beside the chat. A rendered page loads itself again when the site changes; here it is decided which page is shown.

import { h, icon, iconButton } from "../page/dom.js";
import { words } from "./words.js";

export class Preview {
  constructor(base) {
    this.base = base;
    this.calls = new Map();
    this.address = h("span", { class: "address" });
    this.link = h("a", { class: "icon-button", target: "_blank", rel: "noopener", title: words.openPreview, "aria-label": words.openPreview }, icon("link", 18));
    this.frame = h("iframe", {});
    const head = h("header", { class: "area-head" }, h("h2", {}, words.areas.preview), this.address, iconButton("reload", words.reload, () => this.load()), this.link);
    this.parts = base ? [head, this.frame] : [h("header", { class: "area-head" }, h("h2", {}, words.areas.preview)), h("div", { class: "blank" }, h("p", {}, words.previewNone))];
  }

  // start shows the first page; the frame has to be in its place.
  start() {
    this.go("home");
  }

  // event follows what the assistant touches: the page shown is the one it read or changed last.
  event(e) {
    if (e.type === "user-message") this.calls.clear();
    if (e.type === "tool-input-available") this.calls.set(e.toolCallId, e.input);
    if (e.type === "mode_switch" || e.type !== "tool-result" || !e.success || !/[pP]age|[sS]ection|Contents/.test(e.toolName)) return;
    const output = e.output && typeof e.output === "object" ? e.output : {};
    const input = this.calls.get(e.toolCallId) ?? {};
    const linked = /\/pages\/([a-z0-9-]+)/.exec(output.url ?? "")?.[1];
    const slug = linked ?? output.slug ?? output.page?.slug ?? (typeof output.page === "string" ? output.page : null) ?? input.slug ?? input.page ?? (typeof input.id === "string" ? input.id : null);
    if (/^[a-z0-9-]{2,64}$/.test(slug ?? "") && !/^[0-9a-f]{8}-/.test(slug) && !/listPages|Def|Elements/.test(e.toolName)) this.go(slug);
  }

  go(slug) {
    if (slug === this.slug) return;
    this.slug = slug;
    this.load();
  }

  load() {
    if (!this.base) return;
    const url = `${this.base}/pages/${encodeURIComponent(this.slug)}?locale=en`;
    // A new frame each time: a page that is just reloading itself, because the site has changed, would win over another address.
    const frame = h("iframe", { sandbox: "allow-scripts allow-same-origin", title: words.frame(this.slug), src: url });
    this.frame.replaceWith(frame);
    this.frame = frame;
    this.link.href = url;
    this.address.textContent = `/pages/${this.slug}`;
  }
}
