// Puts the pages together: the address says which one is shown. The chat stays beside all of them.

import { words } from "./words.js"; // first: it changes words of the chat
import { api as agent } from "/agent/page/api.js";
import { add, button, h, icon, iconButton, remembered } from "/agent/page/dom.js";
import { themeButton } from "/agent/page/shell.js";
import { api } from "./api.js";
import { ArtifactPage } from "./artifact.js";
import { Chat, modelBadge } from "./chat.js";
import { errorCard } from "./cards.js";
import { dashboard } from "./dashboard.js";
import { login, portfolio } from "./lists.js";

const wide = matchMedia("(min-width: 1100px)");
let chat, artifact, shown = "", serial = 0, title = words.brand;

const toggles = () => document.querySelectorAll("[data-toggle]");

const host = {
  toast: (text) => chat.page.toast(text),
  say: (message) => (host.toggleChat(true), chat.say(message)),
  screen: () => (artifact?.a ? artifact.screen() : { currentPage: location.pathname === "/portfolio" ? "portfolio" : "dashboard" }),
  screenChanged() {
    host.entitle(chat?.page.model.asked().length ?? 0);
    for (const view of chat?.answers.values() ?? []) view.here(host.screen().artifactId);
  },
  entitle: (waiting) => (document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title}`),
  refresh: () => (artifact ? artifact.refresh() : host.waiting?.()),
  // chatChanged says at the buttons of the chat what it does.
  chatChanged(state) {
    for (const b of toggles()) {
      if (b.dataset.toggle !== "chat" || b.dataset.state === state) continue;
      b.dataset.state = state;
      b.setAttribute("aria-label", words[state] ?? words.assistant);
    }
  },
  async edit(id) {
    if (artifact?.id !== id) await host.go(`/artifacts/${id}`);
    if (["published", "archived"].includes(artifact.a.status)) await artifact.act("edit");
    if (!wide.matches) host.toggleChat(false);
    artifact.edit();
  },
  async go(path) {
    if (artifact && path !== location.pathname && artifact.leave(path) === false) return;
    const url = new URL(path, location.origin);
    if (chat.page.id) url.searchParams.set("session", chat.page.id);
    if (url.href !== location.href) history.pushState(null, "", url);
    if (!wide.matches) host.toggleChat(false);
    await route();
  },
  toggleChat(open, focus = true) {
    const had = document.body.classList.contains("with-chat");
    document.body.classList.toggle("with-chat", open);
    for (const b of toggles()) b.setAttribute(b.hasAttribute("aria-expanded") ? "aria-expanded" : "aria-pressed", String((b.dataset.toggle === "chat") === open));
    if (wide.matches) remembered.set("content.chat", open ? "" : "closed");
    chat.page.composer.resize(); // a field that isn't shown has no height
    if (open === had || !focus) return;
    if (open) chat.page.composer.focus();
    else if (chat.element.contains(document.activeElement)) [...toggles()].find((b) => b.dataset.toggle === "chat" && b.checkVisibility())?.focus();
  },
  // enter shows the pages to somebody who has logged in.
  enter: (path) => (remembered.set("content.in", "yes"), history.replaceState(null, "", path), document.body.replaceChildren(), start().then(() => chat && (wide.matches && remembered.get("content.chat") !== "closed" ? chat.page.composer : document.querySelector(".site a")).focus())),
  // escape closes the chat where it covers the page.
  escape: () => !wide.matches && document.body.classList.contains("with-chat") && (host.toggleChat(false), true),
};

function header() {
  const link = (path, label) => h("a", { href: path }, label);
  const toggle = (name, props, ...children) => h("button", { type: "button", "data-toggle": name, onclick: () => host.toggleChat(name === "chat" && (props["aria-pressed"] !== undefined || !document.body.classList.contains("with-chat"))), ...props }, children);
  const dot = () => h("span", { class: "dot" });
  return [h("header", { class: "site" }, h("a", { class: "brand-name", href: "/", "aria-label": words.brand }, h("img", { src: "/agent/page/icon.svg", alt: "", width: 24, height: 24 }), h("span", {}, words.brand)),
    h("nav", { "aria-label": "Pages" }, link("/", words.nav.dashboard), link("/portfolio", words.nav.portfolio), host.admin ? link("/admin", words.nav.admin) : null),
    modelBadge(host.model), h("span", { class: "me muted small" }, host.user.name), themeButton(),
    button(words.logOut, logOut, "quiet", { class: "button quiet out", "aria-label": words.logOut, title: words.logOut }),
    toggle("chat", { class: "button chat-toggle", "data-testid": "chat-toggle", "aria-expanded": "false", "aria-label": words.assistant }, dot(), h("span", {}, words.assistant))),
  h("nav", { class: "tabs", "aria-label": words.tabs }, toggle("page", { "aria-pressed": "true" }, words.thisPage), toggle("chat", { "aria-pressed": "false", "aria-label": words.assistant }, words.assistant, dot()))];
}

// logOut ends everything on the page, and on those in other tabs.
async function logOut() {
  chat.page.stream?.close();
  artifact?.leave();
  await api("POST", "/api/logout").catch(() => {});
  for (const key of Object.keys(localStorage)) if (/^pawl\.(draft|content\.(?!width|chat))/.test(key)) localStorage.removeItem(key);
  sessionStorage.clear();
  remembered.set("content.out", String(Date.now()));
  location.replace("/login");
}

async function page(path) {
  if (path === "/portfolio") return portfolio(host);
  if (path === "/admin") return (await import("./admin.js")).admin(host);
  if (!path.startsWith("/artifacts/")) return dashboard(host, chat);
  artifact = new ArtifactPage(host, decodeURIComponent(path.slice(11)));
  return artifact.load();
}

async function route() {
  const mine = ++serial;
  artifact?.leave();
  artifact = null;
  host.waiting = null;
  shown = location.pathname;
  let el;
  try {
    el = await page(location.pathname);
  } catch (problem) {
    if (mine !== serial) return;
    if (problem.status === undefined) throw problem;
    artifact = null;
    el = h("main", { class: "view", id: "main" }, h("h1", { class: "hidden-visually" }, words.brand), errorCard(problem, host.say, route), h("p", {}, h("a", { class: "link", href: "/portfolio" }, words.toPortfolio)));
  }
  if (mine !== serial) return;
  document.getElementById("main").replaceWith(el);
  for (const a of document.querySelectorAll(".site nav a")) {
    if (a.pathname === location.pathname) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  title = artifact ? `${artifact.a.title} · ${words.brand}` : words.brand;
  host.screenChanged();
}

async function start() {
  if (location.pathname === "/login") return add(document.body, await login(host));
  remembered.set("content.kept", "yes"); // without storage, only the server knows who is logged in
  if (remembered.get("content.kept") && !remembered.get("content.in")) { // a first visit
    return location.replace(location.pathname === "/" ? "/login" : `/login?back=${encodeURIComponent(location.pathname + location.search)}`);
  }
  let config;
  try {
    const [me, known] = await Promise.all([api("GET", "/api/me"), agent.config()]);
    Object.assign(host, { user: me.user, admin: me.admin, model: me.model, session: me.session });
    config = known;
    const params = new URLSearchParams(location.search);
    if (me.session && !params.has("session") && (await agent.sessions("")).sessions.some((s) => s.session === me.session)) {
      params.set("session", me.session);
      history.replaceState(null, "", `${location.pathname}?${params}`);
    }
  } catch (problem) {
    return add(document.body, h("main", { class: "login", id: "main" }, h("h1", { class: "hidden-visually" }, words.brand), errorCard(problem, null, () => location.reload())));
  }
  chat = new Chat(host, config);
  add(document.body, h("a", { class: "skip", href: "#main" }, "Skip to the content"), header(), h("main", { class: "view", id: "main" }), chat.element);
  const usual = () => host.toggleChat(wide.matches && remembered.get("content.chat") !== "closed", false);
  usual();
  wide.addEventListener("change", usual);
  addEventListener("popstate", () => location.pathname !== shown && route());
  addEventListener("storage", (e) => e.key === "pawl.content.out" && location.replace("/login"));
  addEventListener("pageshow", (e) => e.persisted && location.reload());
  addEventListener("click", (e) => {
    const a = e.target.closest?.("a[href^='/']");
    if (!a || a.target || e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    host.go(a.pathname + a.search);
  });
  await route();
}

start();
