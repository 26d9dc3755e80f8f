// The site beside the chat, or the log in its place. A rendered page loads itself again when the site changes; here it is decided which page is shown.

import { button, h, icon, iconButton } from "../page/dom.js";
import { rest } from "./rest.js";
import { words } from "./words.js";

export class Preview {
  // app has mention(text), shown(path), session(), named(path), changed(), say(text) and log(open), which is called when the log is opened or closed.
  constructor(base, app, log) {
    Object.assign(this, { base, app, path: "", page: {} });
    this.tabs = ["preview", "log"].map((name) => h("button", { type: "button", "aria-pressed": String(name === "preview"), onclick: () => this.tab(name) }, words.tabs[name]));
    this.link = h("a", { class: "icon-button", target: "_blank", rel: "noopener", title: words.openPreview, "aria-label": words.openPreview }, icon("open", 18));
    this.phone = iconButton("phone", words.phone, () => this.narrow(), { "aria-pressed": "false" });
    this.tools = h("div", { class: "frame-tools" }, iconButton("reload", words.reload, () => this.load()), this.phone, this.link);
    this.title = h("h2", {});
    this.where = h("span", { class: "muted path" });
    this.state = h("span", { class: "chip", hidden: true });
    this.publish = button("", () => this.toggle(), "", { hidden: true });
    this.sides = ["before", "after"].map((name) => h("button", { type: "button", onclick: () => this.side(name) }, words.sides[name]));
    this.choice = h("div", { class: "modes", role: "group", "aria-label": words.sidesLabel, hidden: true }, this.sides);
    this.bar = h("div", { class: "page-bar" }, h("div", { class: "what" }, this.title, this.where), this.state, this.publish, this.choice);
    this.frame = h("iframe", {});
    this.place = h("div", { class: "frame" }, this.frame);
    this.site = h("div", { class: "side-body" }, base ? [this.bar, this.place] : h("div", { class: "blank" }, h("p", {}, words.previewNone)));
    this.logBody = h("div", { class: "side-body", hidden: true }, log);
    this.parts = [h("header", { class: "area-head" }, h("div", { class: "modes", role: "group", "aria-label": words.tabs.label }, this.tabs), h("span", { class: "space" }), base ? this.tools : ""), this.site, this.logBody];
    if (base) addEventListener("message", (e) => e.source === this.frame.contentWindow && e.origin === new URL(base).origin && this.said(e.data));
  }

  // tab shows the preview or the log.
  tab(name) {
    const log = name === "log";
    this.tabs.forEach((b, i) => b.setAttribute("aria-pressed", String((i === 1) === log)));
    this.site.hidden = this.tools.hidden = log;
    this.logBody.hidden = !log;
    this.app.log(log);
  }

  // follow shows what the conversation is about: see subject. The same subject moves the preview only once, so that a person can look elsewhere.
  follow(subject) {
    if (!subject || subject.key === this.key) return;
    this.key = subject.key;
    this.section = subject.section;
    const call = subject.call ?? "";
    if (!call && !this.call && (!subject.path || subject.path === this.path.split("?")[0])) return;
    this.call = call;
    this.now = call && !subject.gone ? "after" : "before";
    this.go(subject.path || this.path);
  }

  go(path) {
    this.path = path;
    this.load();
  }

  // open shows a page that somebody has chosen.
  open(path) {
    this.call = this.section = "";
    this.go(path);
  }

  // decided ends the comparison.
  decided() {
    if (!this.call) return;
    this.call = "";
    this.load();
  }

  side(name) {
    this.now = name;
    this.load();
  }

  load() {
    if (!this.base || !this.path) return;
    const address = new URL(this.base + this.path);
    address.searchParams.set("frame", location.origin);
    if (this.call && this.now === "after") {
      address.searchParams.set("call", this.call);
      address.searchParams.set("session", this.app.session());
    }
    // A new frame each time: a page that is just reloading itself, because the site has changed, would win over another address.
    const frame = h("iframe", { sandbox: "allow-scripts allow-same-origin", title: words.frame(this.path), src: address.href });
    this.frame.replaceWith(frame);
    this.frame = frame;
    this.told({ pawl: "shown", path: this.path, slug: this.path.replace(/^\/(pages\/)?/, ""), title: this.path === this.page.path ? this.page.title : "" });
  }

  // said handles what the page in the frame says.
  said(data) {
    if (data?.pawl === "section" && typeof data.name === "string") return this.app.mention(words.sectionOn(data.name.slice(0, 200), this.title.textContent));
    if (data?.pawl !== "shown" || typeof data.path !== "string") return;
    this.told(data);
    if (this.section) this.frame.contentWindow.postMessage({ pawl: "highlight", id: this.section }, new URL(this.base).origin);
  }

  // told shows which page is in the frame.
  told(data) {
    const path = data.path.split("?")[0];
    const { title, status, missing, slug, entry } = data;
    this.page = { path: path === "/" ? "/pages/home" : path, title, status, missing, slug, entry };
    this.path = this.page.path;
    this.named();
    this.where.textContent = (slug && !entry && !missing ? `/${slug}` : this.path.replace(/^\/pages\//, "/")).replace(/^\/home$/, "/");
    this.link.href = this.base + this.path;
    this.choice.hidden = !this.call;
    this.sides.forEach((b, i) => b.setAttribute("aria-pressed", String((i === 1) === (this.now === "after"))));
    const draft = status === "draft";
    this.state.hidden = !missing && !status;
    this.state.className = `chip ${missing ? "missing" : draft ? "draft" : "live"}`;
    this.state.textContent = missing ? words.missing : draft ? words.draft : words.published;
    this.publish.hidden = !status || Boolean(missing) || Boolean(this.call) || slug === "home";
    this.publish.textContent = draft ? words.publish : words.unpublish;
    this.app.shown(this.path);
  }

  // named shows what the page is called on the list, once that is there.
  named() {
    this.title.textContent = this.app.named(this.path) || this.page.title || this.page.slug || "";
  }

  // toggle publishes the page, or makes it a draft again.
  async toggle() {
    const { path, slug, status } = this.page;
    const [, collection, entry] = /^\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const address = collection === "pages" ? `/pages/${slug}` : `/collections/${collection}/entries/${entry}`;
    this.publish.disabled = true;
    try {
      await rest(address, "PUT", { status: status === "draft" ? "published" : "draft" });
      this.load();
      this.app.changed();
    } catch (error) {
      this.app.say(error.message);
    }
    this.publish.disabled = false;
  }

  narrow() {
    const narrow = this.place.classList.toggle("narrow");
    this.phone.setAttribute("aria-pressed", String(narrow));
  }
}
