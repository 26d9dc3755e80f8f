// The strip of a run: when it was driven, by which worker, and what it waited for.

import { h, icon } from "/page/dom.js";
import { color } from "./parts.js";

// spans returns what has happened to a run until now, in order.
export function spans(run, now) {
  const all = [];
  let at = run.created, killed = false;
  for (const g of run.legs) {
    const from = Math.max(g.from, at), to = Math.max(from, g.open ? now : g.to);
    if (from - at > 250) all.push({ kind: killed ? "orphan" : all.length ? "pause" : "queue", from: at, to: from });
    all.push({ kind: "leg", from, to, worker: g.worker, open: g.open, killed: g.killed });
    at = to;
    killed = g.killed;
  }
  const open = run.legs.at(-1)?.open;
  if (!open && ["running", "queued", "paused"].includes(run.status)) {
    all.push({ kind: killed && run.status === "running" ? "orphan" : run.legs.length ? "pause" : "queue", from: at, to: now });
  }
  return all;
}

const words = {
  queue: "in the queue",
  pause: "waits for a decision, or its turn",
  orphan: "its worker was killed; the next one goes on when the lease has ended",
};

// summary says in words what a strip shows.
export function summary(run) {
  const workers = [...new Set(run.legs.map((g) => g.worker))];
  const kills = run.legs.filter((g) => g.killed).length;
  if (!workers.length) return "not started";
  return `driven by ${workers.length === 1 ? "worker" : "workers"} ${workers.join(", ")}${kills ? `; ${kills} ${kills === 1 ? "kill" : "kills"} survived` : ""}`;
}

// A Strip draws the spans of a run between two times.
export class Strip {
  constructor() {
    this.track = h("span", { class: "track", "aria-hidden": "true" });
    this.text = h("span", { class: "hidden-visually" });
    this.element = h("span", { class: "strip" }, this.track, this.text);
    this.parts = [];
  }

  // px is the width of the track, if the caller knows it.
  update(run, from, to, now, px = this.track.clientWidth) {
    const place = (t) => (100 * (t - from)) / (to - from);
    const wanted = [];
    for (const s of spans(run, now)) {
      if (s.to < from) continue;
      const left = Math.max(-1, place(s.from)), right = Math.min(100, place(s.to));
      const name = s.kind === "leg" ? `span leg ${color(s.worker)}${s.open ? " open" : ""}` : `span ${s.kind}`;
      wanted.push({ key: `${s.kind} ${s.from}`, name, left, width: Math.max(0.25, right - left), px: (px * Math.max(0, right - Math.max(0, left))) / 100 - (s.killed ? 8 : 0), text: s.kind === "leg" ? String(s.worker) : "", title: s.kind === "leg" ? `Worker ${s.worker}` : words[s.kind] });
      if (s.killed) wanted.push({ key: `kill ${s.to}`, name: "kill", left: right, title: `Worker ${s.worker} was killed` });
    }
    if (["completed", "failed", "stopped"].includes(run.status) && run.updated >= from) {
      wanted.push({ key: "end", name: `end ${run.status}`, left: Math.min(100, place(Math.max(run.updated, run.legs.at(-1)?.to ?? 0))), title: "The end" });
    }
    this.parts = wanted.map((w) => this.part(w));
    this.track.replaceChildren(...this.parts.map((p) => p.el));
    const text = summary(run);
    if (this.text.textContent !== text) this.text.textContent = text;
  }

  // part returns the element of a part, the same as before if there was one.
  part(w) {
    const old = this.parts.find((p) => p.key === w.key);
    const el = old?.el ?? h("span", {}, w.name === "kill" ? icon("cross", 10) : w.name.startsWith("end") ? icon(w.name.includes("completed") ? "check" : w.name.includes("failed") ? "warning" : "stop", 12) : w.text);
    if (el.className !== w.name) el.className = w.name;
    el.title = w.title;
    el.style.left = `${w.left}%`;
    if (w.width !== undefined) {
      el.style.width = `${w.width}%`;
      el.classList.toggle("tiny", w.px < 12 + 8 * w.text.length);
    }
    return { key: w.key, el };
  }
}
