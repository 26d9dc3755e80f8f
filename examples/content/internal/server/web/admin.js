// The page of administrators: alerts, the figures of a day, and traces.

import { button, h, icon } from "/agent/page/dom.js";
import { count, duration, exactly, when } from "/agent/page/format.js";
import { api } from "./api.js";
import { meter, panel } from "./cards.js";
import { toolName, words } from "./words.js";

const latencies = ["under 0.1 s", "under 1 s", "under 10 s", "under 1 min", "longer"];

export async function admin(host) {
  const trace = new URLSearchParams(location.search).get("traceId");
  return h("main", { class: "view admin", id: "main" }, trace ? await traceView(host, trace) : await overview(host));
}

async function overview(host) {
  const [d, { alerts }, { spans }] = await Promise.all([api("GET", "/api/admin/dashboard"), api("GET", "/api/admin/alerts"), api("GET", "/api/admin/traces")]);
  Object.assign(d, figures(d.spans));
  const traces = tracesOf(spans).slice(0, 50);
  const p = d.pipelines, ended = p.completed + p.failed;
  const numbers = [["Pipelines that succeeded", ended ? `${Math.round((100 * p.completed) / ended)} %` : "–"], ["In progress", count(p.running)], ["Average time", p.completed ? duration(p.averageMs) : "–"], ["Active users", count(d.activeUsers)]];
  return [
    h("div", { class: "head" }, h("div", {}, h("h1", {}, words.nav.admin), h("p", { class: "muted" }, "The last 24 hours. Users are shown by hashes.")), button("Refresh", () => host.go("/admin"))),
    alertList(alerts),
    h("dl", { class: "numbers" }, numbers.map(([name, n]) => h("div", {}, h("dt", {}, name), h("dd", {}, n)))),
    h("div", { class: "two" },
      h("div", { class: "stack" },
        panel("Calls by latency and hour", heatmap(d.hours)),
        panel("Tools", d.tools.length ? toolTable(d.tools) : nothing("No tool was called.")),
        panel("Traces", traces.length ? traceList(traces) : nothing("There are no traces yet."))),
      h("div", { class: "stack" },
        panel("Tokens this month", d.tokens.map((q) => meter(`${q.user.slice(0, 8)} · ${words.plan[q.plan] ?? q.plan}`, q.used, 1, `${Math.round(100 * q.used)} %`))),
        panel("Errors", d.errors.length ? h("ul", { class: "counts" }, d.errors.map((e) => h("li", {}, h("span", {}, words.errors[e.name] ?? e.name), h("b", {}, count(e.n))))) : nothing("There were no errors."))))];
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

// tracesOf returns the traces of spans, the newest first.
function tracesOf(spans) {
  const all = new Map();
  for (const s of spans) {
    if (!all.has(s.traceId)) all.set(s.traceId, { traceId: s.traceId, first: s.operationName, startedAt: s.startTime, tools: 0, failed: 0 });
    const t = all.get(s.traceId);
    t.tools++;
    if (s.category) t.failed++;
    t.duration = Date.parse(s.startTime) - Date.parse(t.startedAt) + s.duration;
  }
  return [...all.values()].reverse();
}

const nothing = (text) => h("p", { class: "muted small" }, text);

function alertList(alerts) {
  const on = alerts.filter((a) => !a.until), over = alerts.filter((a) => a.until);
  const line = (a) => h("li", { class: a.severity, "data-rule": a.rule }, icon(a.until ? "check" : "warning", 18), h("div", {}, h("b", {}, a.rule), ` (${a.severity}): ${a.detail}`, h("p", { class: "muted small" }, a.until ? `Until ${when(new Date(a.until))}` : `Since ${when(new Date(a.since))} · ${a.action}`)));
  return h("section", { class: "alerts", "aria-label": "Alerts" },
    on.length ? h("div", { role: "alert" }, h("ul", {}, on.map(line))) : h("p", { class: "calm" }, icon("check", 18), "No alerts"),
    over.length ? h("details", {}, h("summary", { class: "small" }, `${count(over.length)} past ${over.length === 1 ? "alert" : "alerts"}`), h("ul", { class: "past-alerts" }, over.map(line))) : null);
}

// heatmap shows the calls of each hour by their latency, the newest hour first; the darker, the more.
function heatmap(oldestFirst) {
  const hours = oldestFirst.toReversed();
  const most = Math.max(1, ...hours.flatMap((x) => x.calls));
  const hour = (x) => new Date(x.at).getHours();
  const cell = (n, bad) => {
    const el = h("td", { class: bad ? "bad" : "", title: String(n) }, h("span", {}, n ? count(n) : ""));
    if (n) el.style.setProperty("--share", `${20 + (80 * n) / (bad ? Math.max(n, most) : most)}%`);
    return el;
  };
  return h("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Calls by latency and hour" }, h("table", { class: "heat" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Latency"), hours.map((x) => h("th", { scope: "col" }, String(hour(x)).padStart(2, "0"))))),
    h("tbody", {}, latencies.map((name, i) => h("tr", {}, h("th", { scope: "row" }, name), hours.map((x) => cell(x.calls[i])))), h("tr", {}, h("th", { scope: "row" }, "failed"), hours.map((x) => cell(x.failed, true))))));
}

function toolTable(tools) {
  const head = ["Tool", "Calls", "Failed", "p50", "p95", "p99"];
  return h("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Tools" }, h("table", { class: "figures" },
    h("thead", {}, h("tr", {}, head.map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, tools.map((t) => h("tr", {}, h("th", { scope: "row" }, toolName(t.tool)), h("td", {}, count(t.calls)), h("td", { class: t.failed ? "bad" : "" }, count(t.failed)), [t.p50, t.p95, t.p99].map((ms) => h("td", {}, duration(ms))))))));
}

function traceList(traces) {
  return h("ul", { class: "traces" }, traces.map((t) => h("li", {}, h("a", { href: `/admin?traceId=${encodeURIComponent(t.traceId)}` },
    h("span", { class: t.failed ? "mark bad" : "mark" }, icon(t.failed ? "warning" : "check", 16)),
    h("span", { class: "what" }, h("code", {}, t.traceId), h("span", { class: "muted small" }, `${toolName(t.first)}${t.tools > 1 ? ` and ${count(t.tools - 1)} more` : ""}`)),
    h("span", { class: "small" }, duration(t.duration)), h("time", { class: "muted small", dateTime: t.startedAt, title: exactly(new Date(t.startedAt)) }, when(new Date(t.startedAt)))))));
}

// traceView shows when each span of a trace ran.
async function traceView(host, id) {
  const { spans } = await api("GET", `/api/admin/traces?traceId=${encodeURIComponent(id)}`);
  const starts = spans.map((s) => Date.parse(s.startTime)), from = Math.min(...starts);
  const total = Math.max(1, ...spans.map((s, i) => starts[i] - from + s.duration));
  const span = (s, i) => {
    const bar = h("span", { class: s.status === "ok" ? "span-bar" : "span-bar bad" });
    bar.style.setProperty("--from", `${(100 * (starts[i] - from)) / total}%`);
    bar.style.setProperty("--long", `${Math.max(0.5, (100 * s.duration) / total)}%`);
    return h("li", { "data-span": s.spanId }, h("div", { class: "row between" }, h("b", {}, toolName(s.operationName)), h("span", { class: "small" }, duration(s.duration))), h("div", { class: "lane" }, bar),
      h("p", { class: "muted small" }, [s.spanId, s.status, s.tags["content_agent.status_transition"]].filter(Boolean).join(" · ")),
      s.logs.map((l) => h("p", { class: "bad small" }, `${l.level} ${l.message}`)));
  };
  return [
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "Trace"), h("p", { class: "muted" }, h("code", {}, id), spans.length ? ` · ${exactly(new Date(spans[0].startTime))} · ${duration(total)}` : "")), button("All traces", () => host.go("/admin"))),
    h("section", { class: "panel", "aria-label": "Spans" }, spans.length ? h("ol", { class: "spans" }, spans.map(span)) : nothing("There is no such trace, or it is more than 7 days old."))];
}
