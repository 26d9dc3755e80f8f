// What the views share: words, requests, and small parts.

import { button, h, icon } from "/page/dom.js";

export const status = { queued: "Queued", running: "Running", paused: "Waiting", completed: "Done", failed: "Failed", stopped: "Canceled" };

const signs = { queued: "clock", running: "reload", paused: "question", completed: "check", failed: "warning", stopped: "stop" };

// badge says the status of a run with a sign and a word.
export function badge(s) {
  return h("span", { class: `badge ${s}` }, icon(signs[s] ?? "info", 14), status[s] ?? s);
}

// setText changes a text only if it differs, so that nothing is announced or laid out again.
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

// api sends a request. A failure is an error with the server's words.
export async function api(method, path, body) {
  let res;
  try {
    res = await fetch(path, { method, headers: body ? { "Content-Type": "application/json" } : {}, body: body ? JSON.stringify(body) : undefined });
  } catch {
    throw new Error("The server can’t be reached. What the workers do goes on.");
  }
  if (res.status === 204) return null;
  const answer = await res.json().catch(() => ({}));
  if (!res.ok) throw new Error(answer.detail ? answer.detail[0].toUpperCase() + answer.detail.slice(1) + "." : `The server answered ${res.status}.`);
  return answer;
}

// confirm asks before what can't be undone.
export function confirm(title, text, action) {
  return new Promise((resolve) => {
    const done = (yes) => () => (dialog.close(), resolve(yes));
    const dialog = h("dialog", { role: "alertdialog", "aria-labelledby": "confirm-title", "aria-describedby": "confirm-text", onclose: () => (dialog.remove(), resolve(false)) },
      h("h2", { id: "confirm-title" }, title), h("p", { id: "confirm-text" }, text), h("div", { class: "row apart" }, button("Keep it", done(false)), button(action, done(true), "danger")));
    document.body.append(dialog);
    dialog.showModal();
  });
}

export const panel = (title, ...children) => h("section", { class: "panel", "aria-label": title }, h("h2", {}, title), children);

// color is the class of a worker's color. There are eight.
export const color = (worker) => `w${(worker - 1) % 8}`;

export const chip = (worker) => h("span", { class: `chip ${color(worker)}` }, String(worker));
