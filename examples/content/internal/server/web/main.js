// Puts the pages together: the address says which one is shown. The chat stays beside all of them.

import { add, button, h, icon, iconButton, remembered } from "/agent/page/dom.js";
import { themeButton, Toasts } from "/agent/page/shell.js";
import { admin } from "./admin.js";
import { api } from "./api.js";
import { ArtifactPage } from "./artifact.js";
import { Chat } from "./chat.js";
import { errorCard } from "./cards.js";
import { dashboard, login, portfolio } from "./lists.js";
import { words } from "./words.js";

const wide = matchMedia("(min-width: 1100px)");
const toasts = new Toasts();
let chat, artifact, serial = 0;

const host = {
  user: null,
  model: "",
  admin: false,
  toast: (text) => toasts.show(text),
  say(message) {
    host.toggleChat(true);
    chat.send(message);
  },
  screen: () => (artifact?.a ? artifact.screen() : { currentPage: location.pathname === "/portfolio" ? "portfolio" : "dashboard" }),
  screenChanged: () => chat?.screenChanged(),
  refresh: () => artifact?.refresh(),
  changed: () => chat?.screenChanged(),
  async edit(id) {
    if (artifact?.id !== id) await host.go(`/artifacts/${id}`);
    if (["published", "archived"].includes(artifact.a.status)) await artifact.act("edit");
    if (!wide.matches) host.toggleChat(false);
    artifact.edit();
  },
  go(path) {
    if (artifact && artifact.leave(path) === false) return undefined;
    if (path !== location.pathname + location.search) history.pushState(null, "", path);
    if (!wide.matches) host.toggleChat(false);
    return route();
  },
  toggleChat(open = !document.body.classList.contains("with-chat")) {
    document.body.classList.toggle("with-chat", open);
    document.querySelector("[data-testid=chat-toggle]")?.setAttribute("aria-expanded", open);
    if (wide.matches) remembered.set("content.chat", open ? "" : "closed");
    if (!chat) return;
    if (open) chat.input.focus({ preventScroll: true });
    else if (chat.element.contains(document.activeElement)) document.querySelector("[data-testid=chat-toggle]").focus();
  },
  enter() {
    history.replaceState(null, "", "/");
    document.body.replaceChildren();
    start();
  },
};

function header() {
  const link = (path, label) => h("a", { href: path }, label);
  return h("header", { class: "site" }, h("a", { class: "brand-name", href: "/", "aria-label": words.brand }, h("img", { src: "/agent/page/icon.svg", alt: "", width: 24, height: 24 }), h("span", {}, words.brand)),
    h("nav", { "aria-label": "Pages" }, link("/", words.nav.dashboard), link("/portfolio", words.nav.portfolio), host.admin ? link("/admin", words.nav.admin) : null),
    h("span", { class: "me muted small" }, host.user.name), themeButton(),
    iconButton("open", "Log out", async () => {
      await api("POST", "/api/logout").catch(() => {});
      sessionStorage.clear();
      location.assign("/login");
    }),
    h("button", { type: "button", class: "button", "data-testid": "chat-toggle", "aria-expanded": "false", "aria-label": "Assistant", onclick: () => host.toggleChat() }, icon("pen", 16), h("span", {}, "Assistant")));
}

async function page(path) {
  if (path === "/portfolio") return portfolio(host);
  if (path === "/admin") return admin(host);
  if (!path.startsWith("/artifacts/")) return dashboard(host);
  artifact = new ArtifactPage(host, decodeURIComponent(path.slice(11)));
  return artifact.load();
}

async function route() {
  const mine = ++serial;
  artifact?.leave();
  artifact = null;
  document.title = words.brand;
  let el;
  try {
    el = await page(location.pathname);
  } catch (problem) {
    if (mine !== serial) return;
    if (problem.status === 401) return location.assign("/login");
    if (problem.status === undefined) throw problem;
    artifact = null;
    el = h("main", { class: "view", id: "main" }, errorCard(problem, host.say, route), h("p", {}, h("a", { href: "/portfolio" }, "Go to the portfolio")));
  }
  if (mine !== serial) return;
  document.getElementById("main").replaceWith(el);
  for (const a of document.querySelectorAll("nav a")) {
    if (a.pathname === location.pathname) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  chat.screenChanged();
}

async function start() {
  if (location.pathname === "/login") return add(document.body, await login(host));
  try {
    ({ user: host.user, admin: host.admin, model: host.model } = await api("GET", "/api/me"));
  } catch (problem) {
    if (problem.status === 401) return location.replace("/login");
    return add(document.body, h("main", { class: "login", id: "main" }, errorCard(problem, null, () => location.reload()), button("Log in again", () => location.assign("/login"))));
  }
  chat = new Chat(host);
  add(document.body, h("a", { class: "skip", href: "#main" }, "Skip to the content"), header(), h("main", { class: "view", id: "main" }), chat.element, toasts.element);
  document.body.classList.toggle("with-chat", wide.matches && remembered.get("content.chat") !== "closed");
  document.querySelector("[data-testid=chat-toggle]").setAttribute("aria-expanded", document.body.classList.contains("with-chat"));
  addEventListener("popstate", route);
  addEventListener("click", (e) => {
    const a = e.target.closest?.("a[href^='/']");
    if (!a || a.target || e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    host.go(a.pathname + a.search);
  });
  await route();
}

start();
