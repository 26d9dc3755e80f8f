// The first page: what is queued, what runs where, and that nothing is lost.

import { button, h, icon } from "/page/dom.js";
import { count, duration } from "/page/format.js";
import { api, badge, chip, panel, setText } from "./parts.js";
import { Strip } from "./strip.js";

const wide = matchMedia("(min-width: 720px)");
const span = () => (wide.matches ? 90_000 : 45_000);
const topics = ["lighthouses", "night trains", "bread and how it rises"];
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

export class Operations {
  title = "Operations";
  source = "/events";

  constructor(host) {
    this.host = host;
    this.rows = new Map();
    this.crew = new Map();
    this.field = h("input", { class: "input", id: "topic", maxLength: 200, required: true, autocomplete: "off", placeholder: "a topic, such as lighthouses" });
    this.form = h("form", { class: "ask", onsubmit: (e) => (e.preventDefault(), this.ask(this.field.value)) }, h("label", { for: "topic" }, "Write a report about"), this.field, h("button", { type: "submit", class: "button primary" }, "Write it"));
    this.sign = h("span", { class: "sign" });
    this.verdict = h("p", { class: "verdict" });
    this.basis = h("p", { class: "muted small" });
    this.proof = h("section", { class: "proof", "aria-label": "What was repeated and lost" }, this.sign, h("div", {}, this.verdict, this.basis));
    this.numbers = Object.fromEntries(["Queued", "Running", "Waiting", "Failed"].map((k) => [k, h("dd", {}, "–")]));
    this.rate = h("span", {}, "–");
    this.bars = h("span", { class: "bars", "aria-hidden": "true" }, Array.from({ length: 30 }, () => h("i")));
    this.list = h("ul", { class: "runs" });
    this.axis = h("div", { class: "axis", "aria-hidden": "true" });
    this.empty = h("div", { class: "empty", hidden: true }, icon("file", 28), h("p", {}, "No runs yet. Ask for a report:"), h("div", { class: "row center" }, topics.map((t) => button(t, () => this.ask(t)))));
    this.workers = h("ul", { class: "crew" });
    this.element = h("main", { class: "view", id: "main", tabIndex: -1 },
      h("div", { class: "head" }, h("h1", {}, this.title), this.form),
      this.proof,
      h("dl", { class: "numbers" },
        [["Queued", "Queued"], ["Running", "Running"], ["Waiting", "Waiting for a decision"], ["Failed", "Failed for good"]].map(([k, name]) => h("div", {}, h("dt", {}, name), this.numbers[k])),
        h("div", { class: "rate" }, h("dt", {}, "Ended per minute"), h("dd", {}, this.rate, this.bars))),
      h("div", { class: "two" },
        panel("Runs", this.list, this.empty, this.axis, legend()),
        panel("Workers", this.workers)));
  }

  async ask(topic) {
    try {
      await api("POST", "/runs", { topic });
      this.field.value = "";
      this.host.toast(`A report about ${topic} is queued.`);
    } catch (problem) {
      this.host.toast(problem.message);
    }
  }

  focus() {
    this.field.focus();
  }

  update(o) {
    this.host.warn(o.away ? away(o) : "");
    this.prove(o);
    for (const k of Object.keys(this.numbers)) setText(this.numbers[k], count(o.counts[k]));
    setText(this.rate, count(o.rates.reduce((a, b) => a + b, 0)));
    const most = Math.max(3, ...o.rates);
    o.rates.forEach((n, i) => (this.bars.children[i].style.height = `${Math.max(4, (100 * n) / most)}%`));
    this.showRuns(o);
    this.showWorkers(o);
  }

  prove(o) {
    const t = o.totals, good = t.repeated + o.lost === 0;
    this.proof.classList.toggle("bad", !good);
    if (this.sign.dataset.good !== String(good)) {
      this.sign.dataset.good = String(good);
      this.sign.replaceChildren(icon(good ? "check" : "warning", 22));
    }
    setText(this.verdict, `${plural(t.ended, "run", "runs")}, ${plural(t.kills, "kill", "kills")}: ${count(t.repeated)} repeated, ${count(o.lost)} lost`);
    setText(this.basis, `${plural(t.effects, "effect", "effects")} after ${plural(t.attempts, "attempt", "attempts")}, counted in a table that would accept a second effect of a call.${o.chaos ? " A worker is killed every few seconds." : o.canKill ? "" : " With -chaos, workers are killed while they work."}`);
  }

  showRuns(o) {
    const from = o.now - span();
    this.empty.hidden = o.runs.length > 0;
    this.axis.hidden = !this.empty.hidden;
    const shown = o.runs.filter((r) => ["queued", "running", "paused"].includes(r.status) || r.updated > from);
    const some = shown.length ? shown : o.runs.slice(0, 8);
    const px = this.list.querySelector(".track")?.clientWidth;
    const rows = some.map((r) => {
      const row = this.rows.get(r.id) ?? new Row(r);
      row.update(r, from, o.now, px);
      return [r.id, row];
    });
    const before = [...this.rows.keys()].join();
    this.rows = new Map(rows);
    if (before !== [...this.rows.keys()].join()) this.list.replaceChildren(...rows.map(([, row]) => row.element));
    if (this.axis.dataset.span !== String(span())) {
      this.axis.dataset.span = String(span());
      this.axis.replaceChildren(...[1, 2 / 3, 1 / 3, 0].map((part) => h("span", {}, part ? `${duration(part * span())} ago` : "now")));
    }
  }

  showWorkers(o) {
    const cards = o.workers.map((w) => {
      const card = this.crew.get(w.id) ?? new Card(w, this.host, o.canKill);
      card.update(w, o.now);
      return [w.id, card];
    });
    cards.sort(([, a], [, b]) => a.gone - b.gone);
    const before = [...this.crew.keys()].join();
    this.crew = new Map(cards);
    if (before !== [...this.crew.keys()].join()) this.workers.replaceChildren(...cards.map(([, c]) => c.element));
    if (!cards.length) this.workers.replaceChildren(h("li", { class: "muted small" }, "No worker is alive. Runs wait until one starts."));
  }
}

// legend explains the strips.
function legend() {
  const item = (name, text, ...children) => h("li", {}, h("span", { class: `sample ${name}` }, children), text);
  return h("ul", { class: "legend muted small" }, item("leg w0", "driven by a worker, each in its color", "1"), item("kill", "killed", icon("cross", 10)), item("orphan", "held until the lease of the killed worker ends"), item("pause", "waits"));
}

// A Row is a run in the list.
class Row {
  constructor(r) {
    this.strip = new Strip();
    this.status = h("span", { class: "state" });
    this.element = h("li", {}, h("a", { href: `/show/${r.id}` }, h("span", { class: "topic" }, r.topic), this.strip.element, this.status));
  }

  update(r, from, now, px) {
    this.strip.update(r, from, now, now, px);
    if (this.status.dataset.is === r.status) return;
    this.status.dataset.is = r.status;
    this.status.replaceChildren(badge(r.status));
  }
}

// A Card is a worker.
class Card {
  constructor(w, host, canKill) {
    this.life = h("span", { class: "muted small" });
    this.runs = h("ul", { class: "doing small" });
    this.kill = canKill ? button("Kill", async () => {
      this.kill.disabled = true;
      try {
        await api("POST", `/workers/${w.id}/kill`);
      } catch (problem) {
        this.kill.disabled = false;
        host.toast(problem.message);
      }
    }, "quiet", { title: "SIGKILL: it can’t clean up", "aria-label": `Kill worker ${w.id}` }) : null;
    this.element = h("li", {}, h("div", { class: "who" }, chip(w.id), h("div", {}, h("b", {}, `Worker ${w.id}`), this.life), this.kill), this.runs);
  }

  update(w, now) {
    const silent = Math.max(0, now - w.seen);
    this.gone = w.how ? 1 : 0;
    this.element.className = w.how || (silent > 3000 ? "silent" : "");
    setText(this.life, w.how === "killed" ? "killed" : w.how === "stopped" ? "stopped" : `pid ${w.pid} · ${silent < 1500 ? "alive" : `silent for ${duration(silent)}`}`);
    if (this.kill) this.kill.hidden = Boolean(w.how);
    const lines = w.how ? [] : w.runs.length ? w.runs.map((r) => [r.id, r.topic, r.now]) : [["", "Idle", ""]];
    while (this.runs.children.length > lines.length) this.runs.lastChild.remove();
    lines.forEach(([id, topic, what], i) => {
      const li = this.runs.children[i] ?? this.runs.appendChild(h("li", {}, h("span", { class: "topic" }), h("span", { class: "muted" })));
      setText(li.firstChild, topic);
      setText(li.lastChild, what);
      li.classList.toggle("muted", !id);
    });
  }
}

const at = (ms) => new Date(ms).toLocaleTimeString();

// away says that the database doesn't answer, and what was so before.
function away(o) {
  const oldest = o.oldest ? `, the oldest for ${duration(Math.max(0, o.now - o.oldest))}` : "";
  return `The database hasn’t answered since ${at(o.away)}. At ${at(o.now)}, ${plural(o.counts.Queued, "run was", "runs were")} queued${oldest}. Runs go on when it answers again.`;
}
