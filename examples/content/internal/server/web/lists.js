// The login, the portfolio, and the dialog for a new draft.

import { add, button, h, icon, remembered } from "/agent/page/dom.js";
import { exactly, when } from "/agent/page/format.js";
import { api } from "./api.js";
import { modelBadge } from "./chat.js";
import { badge, errorCard, field, select, toneSelect, typeSelect } from "./cards.js";
import { words } from "./words.js";

// login shows who can log in, and leads back to the page on which a login has ended.
export async function login(host) {
  const { users, model } = await api("GET", "/api/users"), back = new URLSearchParams(location.search).get("back") ?? "";
  const failed = h("div", {});
  const enter = (u) => api("POST", "/api/login", { user: u.id }).then(() => host.enter(/^\/(?![/\\])/.test(back) ? back : "/"), (problem) => failed.replaceChildren(errorCard(problem)));
  return h("main", { class: "login", id: "main" }, h("img", { src: "/agent/page/icon.svg", alt: "", width: 40, height: 40 }), h("h1", {}, words.brand), h("p", { class: "muted" }, `${words.lead} ${words.who}`), modelBadge(model),
    back && remembered.get("content.in") ? h("p", { class: "notice" }, icon("info"), words.expired) : null,
    h("ul", { class: "people" }, users.map((u) => h("li", {}, h("button", { type: "button", class: "person", "data-user": u.id, onclick: () => enter(u) }, h("span", { class: "initials", "aria-hidden": "true" }, u.name.split(" ").map((n) => n[0]).join("")), h("span", { class: "who" }, h("b", {}, u.name), h("span", { class: "muted small" }, u.email)), h("span", { class: "badge" }, words.plan[u.plan]))))), failed,
    h("p", { class: "muted small" }, words.noPasswords));
}

export function artifactList(all) {
  return h("ul", { class: "artifacts" }, all.map((a) => h("li", {}, h("a", { href: `/artifacts/${a.id}` }, h("span", { class: "title" }, a.title), h("span", { class: "muted small" }, `${words.type[a.type]} · ${a.tone}`), badge(a.status), h("time", { class: "muted small", dateTime: a.updatedAt, title: exactly(new Date(a.updatedAt)) }, when(new Date(a.updatedAt)))))));
}

// nothing offers what somebody without articles can do.
export function nothing(host) {
  return h("div", { class: "empty" }, icon("file", 28), h("p", {}, words.dashboard.none), h("div", { class: "examples" }, words.examples.map((text) => h("button", { type: "button", onclick: () => host.say(text) }, h("span", {}, text), icon("chevron")))));
}

const orders = { changed: (a, b) => b.updatedAt.localeCompare(a.updatedAt), created: (a, b) => b.createdAt.localeCompare(a.createdAt), title: (a, b) => a.title.localeCompare(b.title) };

export async function portfolio(host) {
  const { artifacts } = await api("GET", "/api/artifacts"), w = words.portfolio, params = new URLSearchParams(location.search);
  const list = h("div", {}), apart = h("div", {});
  const query = h("input", { class: "input", type: "search", placeholder: w.search, "aria-label": w.search, value: params.get("q") ?? "", oninput: () => show() });
  const choice = (name, label, values) => select(values, params.get(name) ?? "", { name, "aria-label": label, onchange: () => show() });
  const status = choice("status", w.status, [["", w.all], ...Object.entries(words.status).filter(([s]) => s !== "archived")]), type = choice("type", w.type, [["", w.anyType], ...Object.entries(words.type)]);
  const sort = choice("sort", w.sort, Object.entries(w.sorts).map(([k, label]) => [k === "changed" ? "" : k, label]));
  const reset = () => {
    for (const el of [query, status, type]) el.value = "";
    show();
  };
  const show = () => {
    const url = new URL(location.href), wanted = query.value.trim().toLocaleLowerCase();
    for (const [name, { value }] of Object.entries({ q: query, status, type, sort })) value ? url.searchParams.set(name, value) : url.searchParams.delete(name);
    history.replaceState(null, "", url);
    const some = artifacts.filter((a) => (!type.value || a.type === type.value) && a.title.toLocaleLowerCase().includes(wanted)).sort(orders[sort.value || "changed"]);
    const active = some.filter((a) => a.status !== "archived" && (!status.value || a.status === status.value)), archived = some.filter((a) => a.status === "archived");
    list.replaceChildren(active.length ? artifactList(active) : artifacts.length ? h("p", { class: "muted empty" }, h("span", {}, `${w.none} `, button(w.reset, reset, "link"))) : nothing(host));
    const open = apart.querySelector("details")?.open;
    apart.replaceChildren(...(archived.length ? [h("details", { class: "panel", open: open || active.length === 0 }, h("summary", {}, w.archived(archived.length)), artifactList(archived))] : []));
  };
  show();
  return h("main", { class: "view", id: "main" }, h("div", { class: "head" }, h("h1", {}, words.nav.portfolio), button(words.newDraft.open, () => newDraft(host), "primary")),
    h("div", { class: "filters" }, h("div", { class: "search" }, icon("search"), query), status, type, sort),
    h("div", { class: "stack" }, h("section", { class: "panel", "aria-label": words.nav.portfolio }, list), apart));
}

// newDraft asks for what a draft needs.
export function newDraft(host) {
  const w = words.newDraft, title = h("input", { class: "input", name: "title", required: true, maxLength: 200, autocomplete: "off" });
  const type = typeSelect("blog"), tone = toneSelect("professional"), failed = h("div", {}), create = h("button", { type: "submit", class: "button primary" }, w.create);
  const dialog = h("dialog", { "aria-labelledby": "draft-title", onclose: () => dialog.remove() }, h("h2", { id: "draft-title" }, w.title), h("form", { class: "stack", onsubmit: (e) => {
    e.preventDefault();
    create.disabled = true;
    api("POST", "/api/artifacts", { type: type.value, title: title.value, tone: tone.value, tags: [] }).then((a) => (dialog.close(), host.go(`/artifacts/${a.id}`)), (problem) => ((create.disabled = false), failed.replaceChildren(errorCard(problem))));
  } }, field(w.name, title, w.hint), h("div", { class: "pair" }, field(w.type, type), field(w.tone, tone)), failed, h("div", { class: "row" }, create, button(w.cancel, () => dialog.close()))));
  add(document.body, dialog);
  dialog.showModal();
}
