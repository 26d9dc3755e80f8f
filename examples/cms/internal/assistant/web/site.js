// What the site has: its pages, the entries of its collections, and its media, as a list that can be searched.

import { button, h, icon, iconButton } from "../page/dom.js";
import { bytes } from "../page/format.js";
import { list, rest } from "./rest.js";
import { words } from "./words.js";

// begun returns texts for what an entry of a collection can't be without.
function begun({ elements_structure: structure }) {
  const slots = (structure?.rows ?? []).flatMap((row) => row.slots).filter((s) => s.dataRules?.required && /text/i.test(s.type));
  return Object.fromEntries(slots.map((s) => [s.key, words.begun]));
}

export class SiteList {
  // app has open(path), mention(text), upload(files), say(text), and listed(), which is called when there are new lists.
  constructor(app) {
    this.app = app;
    this.path = "";
    this.names = new Map(); // of pages and entries, by path
    this.query = h("input", { class: "input", type: "search", placeholder: words.searchSite, "aria-label": words.searchSite, oninput: () => this.soon(150) });
    this.body = h("div", { class: "site-lists" });
    this.chooser = h("input", { type: "file", accept: "image/*,video/*,audio/*,.pdf,.txt", multiple: true, hidden: true, tabIndex: -1, onchange: () => (app.upload([...this.chooser.files]), (this.chooser.value = "")) });
    this.parts = [
      h("header", { class: "area-head" }, h("h2", {}, words.siteTitle), h("span", { class: "space" }), iconButton("reload", words.reloadSite, () => this.load())),
      h("div", { class: "search" }, icon("search"), this.query),
      this.body,
      this.chooser,
    ];
  }

  // soon reads the lists again: several changes at once are one.
  soon(ms = 60) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), ms);
  }

  // naming says whether somebody names a new page or entry just now, which isn't to be lost.
  naming() {
    return this.body.contains(document.activeElement) && document.activeElement.matches("input");
  }

  async load() {
    const q = this.query.value.trim();
    const query = q ? { q } : {};
    const asked = (this.asked = {});
    try {
      const [pages, collections, media] = await Promise.all([list("/pages", query), list("/collections"), list("/media", query)]);
      const entries = await Promise.all(collections.map((c) => list(`/collections/${c.slug}/entries`, query)));
      if (asked !== this.asked) return;
      pages.sort((a, b) => (b.slug === "home") - (a.slug === "home")); // the start page comes first
      this.show(q, pages, collections.map((c, i) => [c, entries[i]]), media);
    } catch (error) {
      if (asked !== this.asked) return;
      this.soon(5000);
      if (error.message === this.key || this.naming()) return;
      this.key = error.message;
      this.body.replaceChildren(h("div", { class: "none", role: "alert" }, h("p", {}, words.siteFailed), h("p", { class: "muted" }, error.message), button(words.again, () => this.load())));
    }
  }

  show(q, pages, collections, media) {
    if (this.naming()) return;
    const key = JSON.stringify([q, pages, collections, media]);
    if (key === this.key) return;
    this.key = key;
    this.body.replaceChildren(...[
      this.group(words.pages, pages.map((p) => this.row("file", p.name, `/pages/${p.slug}`, p.slug === "home" ? "/" : `/${p.slug}`, p.status)), words.newPage, (name) => this.create("/pages", { name }, (p) => `/pages/${p.slug}`)),
      ...collections.map(([c, entries]) => this.group(c.name, entries.map((e) => this.row("pen", e.title, `/${c.slug}/${e.slug}`, `/${c.slug}/${e.slug}`, e.status)), words.newEntry(c.name), (title) => this.create(`/collections/${c.slug}/entries`, { title, content: begun(c) }, (e) => `/${c.slug}/${(e.entry ?? e).slug}`))),
      this.group(words.media, media.length ? [h("li", {}, h("div", { class: "thumbs" }, media.map((m) => this.thumb(m))))] : [], words.upload),
    ].filter((group) => !q || !group.querySelector(".empty")));
    if (!this.body.firstChild) this.body.append(h("p", { class: "none muted" }, words.nothingFound(q)));
    this.current(this.path);
    this.app.listed();
  }

  // group makes a part of the list. create makes something with the name that somebody gives it; without it, files are chosen.
  group(title, rows, add, create) {
    const items = h("ul", {}, rows.length ? rows : h("li", { class: "muted empty" }, create ? words.noneYet : words.noMedia));
    const name = () => {
      const field = h("input", { class: "input", type: "text", maxLength: 100, placeholder: words.nameIt, "aria-label": add, onkeydown: (e) => e.key === "Escape" && (e.stopPropagation(), form.remove(), plus.focus()) });
      const form = h("form", { class: "naming", onsubmit: (e) => (e.preventDefault(), field.value.trim() && (field.blur(), create(field.value.trim()))) }, field, button(words.create, null, "primary", { type: "submit" }));
      items.parentElement.querySelector("form")?.remove();
      items.before(form);
      field.focus();
    };
    const plus = iconButton("plus", add, create ? name : () => this.chooser.click());
    return h("section", {}, h("div", { class: "group-head" }, h("h3", {}, title), h("span", { class: "muted" }, rows.length && create ? String(rows.length) : ""), plus), items);
  }

  async create(path, body, where) {
    try {
      const made = await rest(path, "POST", body);
      this.key = "";
      this.app.open(where(made));
    } catch (error) {
      this.app.say(error.message);
    }
    this.load();
  }

  row(sign, name, path, address, status) {
    this.names.set(path, name);
    const state = status === "draft" ? h("span", { class: "chip draft" }, words.draft) : h("span", { class: "hidden-visually" }, words.published);
    return h("li", {}, h("button", { type: "button", class: "row", "data-path": path, title: `${name}, ${status === "draft" ? words.draft : words.published}`, onclick: () => this.app.open(path) }, icon(sign, 15), h("span", { class: "name" }, name, " ", h("span", { class: "muted" }, address)), state));
  }

  thumb(m) {
    const picture = m.mimeGroup === "image" ? h("img", { src: `..${m.path}`, alt: m.alt || "", loading: "lazy" }) : icon("file", 24);
    const size = m.width ? `${m.width} × ${m.height}, ` : "";
    return h("button", { type: "button", class: "thumb-button", title: `${m.name}, ${size}${bytes(m.size)}. ${words.useIt}`, onclick: () => this.app.mention(m.name) }, picture, h("span", {}, m.name));
  }

  // current marks what the preview shows.
  current(path) {
    this.path = path;
    for (const row of this.body.querySelectorAll(".row")) {
      if (row.dataset.path === path) row.setAttribute("aria-current", "page");
      else row.removeAttribute("aria-current");
    }
  }
}
