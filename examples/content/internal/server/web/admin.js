// The page of administrators: alerts, the figures of a day, and traces with filters and a detail pane.

import { button, h, icon, iconButton } from "/agent/page/dom.js";
import { count, duration, exactly, when } from "/agent/page/format.js";
import { copy } from "/agent/page/messages.js";
import { api } from "./api.js";
import { field, meter, panel, select } from "./cards.js";
import { toolName, words } from "./words.js";

const w = words.admin;
const nothing = (text) => h("p", { class: "muted small" }, text);
const scroll = (label, table) => h("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": label }, table);

export async function admin(host) {
  const [d, { alerts }, { spans }] = await Promise.all([api("GET", "/api/admin/dashboard"), api("GET", "/api/admin/alerts"), api("GET", "/api/admin/traces")]);
  Object.assign(d, figures(d.spans));
  const p = d.pipelines, ended = p.completed + p.failed;
  const numbers = [ended ? `${Math.round((100 * p.completed) / ended)} %` : "–", count(p.running), p.completed ? duration(p.averageMs) : "–", count(d.activeUsers)];
  return h("main", { class: "view admin", id: "main" },
    h("div", { class: "head" }, h("div", {}, h("h1", {}, words.nav.admin), h("p", { class: "muted" }, w.lead)), button([icon("reload"), w.refresh], () => host.go(location.pathname + location.search))),
    alertList(alerts),
    h("dl", { class: "numbers" }, w.numbers.map((name, i) => h("div", {}, h("dt", {}, name), h("dd", {}, numbers[i])))),
    new Traces(host, spans).element,
    h("div", { class: "two" },
      h("div", { class: "stack" }, panel(w.latency, heatmap(d.hours)), panel(w.tools, d.tools.length ? toolTable(d.tools) : nothing(w.noTools))),
      h("div", { class: "stack" },
        panel(w.tokens, d.tokens.map((q) => meter(`${q.user.slice(0, 8)} · ${words.plan[q.plan] ?? q.plan}`, q.used, 1, `${Math.round(100 * q.used)} %`))),
        panel(w.errors, d.errors.length ? h("ul", { class: "counts" }, d.errors.map((e) => h("li", {}, h("span", {}, words.errors[e.name] ?? e.name), h("b", {}, count(e.n))))) : nothing(w.noErrors)))));
}

// figures sums up the calls of a day: tools with their latencies, errors, hours, and who was active.
function figures(spans) {
  const tools = {}, errors = {}, hour = 3600000, first = (Math.floor(Date.now() / hour) - 23) * hour;
  const hours = Array.from({ length: 24 }, (_, i) => ({ at: first + i * hour, calls: [0, 0, 0, 0, 0], failed: 0 }));
  for (const s of spans) {
    const of = (tools[s.operationName] ??= { tool: s.operationName, failed: 0, took: [] });
    of.took.push(s.duration);
    const at = hours[Math.min(23, Math.max(0, Math.floor((Date.parse(s.startTime) - first) / hour)))];
    at.calls[[100, 1000, 10000, 60000, Infinity].findIndex((limit) => s.duration < limit)]++;
    if (!s.category) continue;
    of.failed++;
    at.failed++;
    errors[s.category] = (errors[s.category] ?? 0) + 1;
  }
  const quantile = (sorted, part) => sorted[Math.ceil(sorted.length * part) - 1];
  return {
    hours,
    tools: Object.values(tools).map((t) => {
      const took = t.took.sort((a, b) => a - b);
      return { ...t, calls: took.length, p50: quantile(took, 0.5), p95: quantile(took, 0.95), p99: quantile(took, 0.99) };
    }).sort((a, b) => b.calls - a.calls || a.tool.localeCompare(b.tool)),
    errors: Object.entries(errors).map(([name, n]) => ({ name, n })).sort((a, b) => b.n - a.n),
    activeUsers: new Set(spans.map((s) => s.tags["content_agent.user_id"])).size,
  };
}

function alertList(alerts) {
  const on = alerts.filter((a) => !a.until), over = alerts.filter((a) => a.until);
  const line = (a) => h("li", { class: a.severity, "data-rule": a.rule }, icon(a.until ? "check" : "warning", 18), h("div", {}, h("b", {}, a.rule.replace(/^./, (c) => c.toUpperCase())), ` (${w.severity[a.severity] ?? a.severity}): ${a.detail}`, h("p", { class: "muted small" }, a.until ? w.until(when(new Date(a.until))) : `${w.since(when(new Date(a.since)))} · ${a.action}`)));
  return h("section", { class: "alerts", "aria-label": "Alerts" },
    on.length ? h("div", { role: "alert" }, h("ul", {}, on.map(line))) : h("p", { class: "calm" }, icon("check", 18), w.noAlerts),
    over.length ? h("details", {}, h("summary", { class: "small" }, w.past(over.length)), h("ul", { class: "past-alerts" }, over.map(line))) : null);
}

// heatmap shows the calls of each hour by their latency, the newest hour first; the darker, the more.
function heatmap(oldestFirst) {
  const hours = oldestFirst.toReversed();
  const most = Math.max(1, ...hours.flatMap((x) => x.calls));
  const cell = (n, bad) => {
    const el = h("td", { class: bad ? "bad" : "", title: String(n) }, h("span", {}, n ? count(n) : ""));
    if (n) el.style.setProperty("--share", `${20 + (80 * n) / (bad ? Math.max(n, most) : most)}%`);
    return el;
  };
  return scroll(w.latency, h("table", { class: "heat" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, w.latencyHead), hours.map((x) => h("th", { scope: "col" }, String(new Date(x.at).getHours()).padStart(2, "0"))))),
    h("tbody", {}, w.latencies.map((name, i) => h("tr", {}, h("th", { scope: "row" }, name), hours.map((x) => cell(x.calls[i])))), h("tr", {}, h("th", { scope: "row" }, w.failedRow), hours.map((x) => cell(x.failed, true))))));
}

function toolTable(tools) {
  return scroll(w.tools, h("table", { class: "figures" },
    h("thead", {}, h("tr", {}, w.toolHead.map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, tools.map((t) => h("tr", {}, h("th", { scope: "row" }, toolName(t.tool)), h("td", {}, count(t.calls)), h("td", { class: t.failed ? "bad" : "" }, count(t.failed)), [t.p50, t.p95, t.p99].map((ms) => h("td", {}, duration(ms))))))));
}

// tracesOf returns the traces of spans, the newest first.
function tracesOf(spans) {
  const all = new Map();
  for (const s of spans) {
    if (!all.has(s.traceId)) all.set(s.traceId, { id: s.traceId, user: s.tags["content_agent.user_id"] ?? "", at: Date.parse(s.startTime), spans: [], failed: false });
    const t = all.get(s.traceId);
    t.spans.push(s);
    t.failed ||= Boolean(s.category);
    t.duration = Date.parse(s.startTime) - t.at + s.duration;
  }
  return [...all.values()].reverse();
}

// Traces is the table of traces, with filters and the pane of the one that is chosen. The address says all of it.
class Traces {
  constructor(host, spans) {
    Object.assign(this, { host, all: tracesOf(spans), body: h("tbody", {}), none: h("p", { class: "muted small" }), pane: h("div", { class: "pane", role: "region", "aria-label": w.trace }) });
    const params = new URLSearchParams(location.search), changed = () => (this.address(), this.show());
    const choice = (name, values, usual = "") => select(values, params.get(name) ?? usual, { name, onchange: changed });
    this.fields = { hours: choice("hours", Object.entries(w.times).map(([k, v]) => [k, v]), "168"), user: h("input", { class: "input", name: "user", type: "search", value: params.get("user") ?? "", oninput: changed }), status: choice("status", Object.entries(w.states)), tool: choice("tool", [["", w.anyTool], ...[...new Set(spans.map((s) => s.operationName))].map((t) => [t, toolName(t)])]) };
    this.chosen = params.get("traceId") ?? "";
    const labels = { hours: w.time, user: w.user, status: w.state, tool: w.tool };
    this.element = h("section", { class: "panel traces" }, h("h2", {}, w.traces), h("div", { class: "filters" }, Object.entries(this.fields).map(([name, el]) => field(labels[name], el))),
      h("div", { class: "with-pane" }, h("div", {}, scroll(w.traces, h("table", { class: "figures" }, h("thead", {}, h("tr", {}, w.head.map((t) => h("th", { scope: "col" }, t)))), this.body)), this.none), this.pane));
    this.show();
    this.open();
  }

  address() {
    const url = new URL(location.href);
    for (const [name, { value }] of Object.entries({ ...this.fields, traceId: { value: this.chosen } })) value && !(name === "hours" && value === "168") ? url.searchParams.set(name, value) : url.searchParams.delete(name);
    history.replaceState(null, "", url);
  }

  show() {
    const { hours, user, status, tool } = this.fields, since = Date.now() - hours.value * 3600000, wanted = user.value.trim().toLowerCase();
    const some = this.all.filter((t) => t.at >= since && t.user.toLowerCase().startsWith(wanted) && (!status.value || t.failed === (status.value === "error")) && (!tool.value || t.spans.some((s) => s.operationName === tool.value)));
    this.body.replaceChildren(...some.slice(0, 100).map((t) => h("tr", { class: t.id === this.chosen ? "chosen" : "" },
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", "data-trace": t.id, "aria-pressed": String(t.id === this.chosen), onclick: () => this.choose(t.id) }, h("span", { class: t.failed ? "mark bad" : "mark" }, icon(t.failed ? "warning" : "check", 14), h("span", { class: "hidden-visually" }, t.failed ? w.states.error : w.states.ok)), toolName(t.spans[0].operationName), t.spans.length > 1 ? h("span", { class: "muted" }, w.more(t.spans.length - 1)) : null)),
      h("td", { title: exactly(new Date(t.at)) }, when(new Date(t.at))), h("td", {}, h("code", { title: t.user }, t.user.slice(0, 8))), h("td", {}, count(t.spans.length)), h("td", {}, duration(t.duration)))));
    this.none.textContent = this.all.length === 0 ? w.noTraces : some.length === 0 ? w.noMatch : "";
  }

  choose(id) {
    this.chosen = id;
    this.address();
    this.show();
    this.open();
    (id ? this.pane.querySelector("button") : this.body.querySelector("button"))?.focus();
  }

  // open shows when each span of the chosen trace ran.
  async open() {
    const id = this.chosen;
    this.pane.hidden = !id;
    if (!id) return;
    const { spans } = await api("GET", `/api/admin/traces?traceId=${encodeURIComponent(id)}`);
    if (id !== this.chosen) return;
    const starts = spans.map((s) => Date.parse(s.startTime)), from = Math.min(...starts), total = Math.max(1, ...spans.map((s, i) => starts[i] - from + s.duration));
    const span = (s, i) => {
      const bar = h("span", { class: s.status === "ok" ? "span-bar" : "span-bar bad" });
      bar.style.setProperty("--from", `${(100 * (starts[i] - from)) / total}%`);
      bar.style.setProperty("--long", `${Math.max(0.5, (100 * s.duration) / total)}%`);
      return h("li", { "data-span": s.spanId }, h("div", { class: "row between" }, h("b", {}, toolName(s.operationName)), h("span", { class: "small" }, duration(s.duration))), h("div", { class: "lane" }, bar), s.logs.map((l) => h("p", { class: "bad small" }, `${l.level} ${l.message}`)));
    };
    this.pane.replaceChildren(h("div", { class: "row between" }, h("h3", {}, w.trace), iconButton("close", w.close, () => this.choose(""))),
      h("p", { class: "muted small" }, h("code", {}, id), spans.length ? ` · ${exactly(new Date(spans[0].startTime))} · ${duration(total)}` : ""),
      spans.length ? h("ol", { class: "spans" }, spans.map(span)) : nothing(w.gone), spans.length ? h("details", {}, h("summary", { class: "small" }, "JSON"), button([icon("copy", 14), w.copy], () => copy(JSON.stringify(spans, null, 2), (t) => this.host.toast(t)), "quiet"), h("pre", { class: "data", tabIndex: 0 }, JSON.stringify(spans, null, 2))) : "");
  }
}
