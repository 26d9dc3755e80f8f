// The frame of the page: which view is shown, its events, and shortcuts.

import { button, h, icon } from "/page/dom.js";
import { Toasts, themeButton } from "/page/shell.js";
import { Dead } from "./dead.js";
import { Operations } from "./operations.js";
import { setText } from "./parts.js";
import { Run } from "./run.js";

const toasts = new Toasts();
const links = [["/", "Operations"], ["/dead", "Dead letters"]].map(([href, name]) => h("a", { href }, name));
const lost = "The connection is lost. The workers go on, and this page connects again by itself.";
const barText = h("span", {}, lost), bar = h("div", { class: "bar", role: "status", hidden: true }, icon("warning", 16), barText);
const warn = (text) => (setText(barText, text || lost), (bar.hidden = !text));
const place = h("div", { class: "place" });
let view, events;

const host = {
  toast: (text) => toasts.show(text, null, null, 4000),
  warn,
  go: (path) => {
    history.pushState(null, "", path);
    show();
  },
};

// show shows the view that the address names.
function show() {
  events?.close();
  const path = location.pathname;
  const id = path.match(/^\/show\/([^/]+)$/)?.[1];
  view = id ? new Run(host, decodeURIComponent(id)) : path === "/dead" ? new Dead(host) : new Operations(host);
  for (const a of links) a.getAttribute("href") === path ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
  place.replaceChildren(view.element);
  document.title = `${view.title} · Reports`;
  listen(view);
}

// listen follows the events of a view. A browser connects again by itself, unless the server refuses.
function listen(shown) {
  const mine = new EventSource(shown.source);
  events = mine;
  mine.onopen = () => warn("");
  mine.onmessage = (e) => {
    if (shown !== view) return;
    shown.update(JSON.parse(e.data));
    document.title = `${shown.title} · Reports`;
  };
  mine.onerror = async () => {
    if (shown !== view) return;
    if (mine.readyState !== EventSource.CLOSED) return warn(lost);
    const answer = await fetch(shown.source.replace("/events?run=", "/runs/")).catch(() => null);
    if (answer?.status === 404) place.replaceChildren(h("main", { class: "view", id: "main", tabIndex: -1 }, h("div", { class: "empty" }, icon("file", 28), h("h1", {}, "There is no such run"), h("p", {}, "It may have been purged."), button("Show all runs", () => host.go("/"), "primary"))));
    else warn(lost), setTimeout(() => shown === view && listen(shown), 2000);
  };
}

const keys = [["/", "Ask for a report"], ["o", "Operations"], ["d", "Dead letters"], ["?", "This list"], ["Esc", "Close"]];
const help = h("dialog", { "aria-labelledby": "help-title" }, h("h2", { id: "help-title" }, "Shortcuts"), h("dl", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])), button("Close", () => help.close(), "primary"));

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, dialog")) return;
  const path = { o: "/", d: "/dead" }[e.key];
  if (e.key === "?") help.showModal();
  else if (e.key === "/") {
    if (!view.focus) host.go("/");
    view.focus();
  } else if (path) host.go(path);
  else return;
  e.preventDefault();
});
document.addEventListener("click", (e) => {
  const a = e.target.closest("a");
  if (!a || a.target || a.origin !== location.origin || e.button || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  host.go(a.pathname);
  document.querySelector("#main").focus({ preventScroll: true });
});
addEventListener("popstate", show);

document.body.append(h("a", { class: "skip", href: "#main", onclick: (e) => (e.preventDefault(), e.stopPropagation(), document.querySelector("#main").focus()) }, "Skip to the content"),
  h("header", { class: "site" }, h("a", { class: "brand-name", href: "/" }, h("img", { src: "/page/icon.svg", alt: "", width: 24, height: 24 }), "Reports"), h("nav", { "aria-label": "Pages" }, links), themeButton(), button("?", () => help.showModal(), "quiet shortcuts", { "aria-label": "Shortcuts", title: "Shortcuts" })),
  bar, place, toasts.element, help);
show();
