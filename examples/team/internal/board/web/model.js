// What the board means: the parts that the server sends, as steps in layers with what has changed since the version before. There is nothing of the DOM here.

import { humanized, object, oneLine } from "../page/format.js";

// read returns what is shown of a plan, or null: its head, its steps in layers, and the steps that the version before had.
export function read(board) {
  const { plan: head, asks } = board;
  if (!head) return null;
  const nodes = head.plan?.nodes ?? [];
  const before = head.before?.nodes;
  const waiting = new Set((asks ?? []).map((a) => a.path?.[0]));
  const steps = nodes.map((n) => ({ ...stepOf(n), ...changed(n, before), ...stateOf(board[`step ${n.id}`], board[`live ${n.id}`]), begun: Boolean(head.run) }));
  for (const s of steps) if (waiting.has(s.id) && s.status !== "asking" && s.status !== "failed") s.status = "waiting";
  const undone = steps.some((s) => s.status === "undone");
  const status = undone && head.status === "completed" ? "undone" : asks?.length && head.status === "running" ? "waiting" : head.status;
  return {
    title: head.plan?.title ?? "",
    why: head.plan?.why ?? "",
    version: head.version,
    run: head.run ?? "",
    reason: head.status === "completed" ? "" : (head.reason ?? ""),
    status,
    undone,
    steps,
    layers: layers(nodes),
    removed: before ? before.filter((n) => !nodes.some((m) => m.id === n.id)).map(stepOf) : [],
  };
}

function stepOf(n) {
  const { title, more } = work(n);
  return { id: n.id, who: n.worker || n.tool, work: title, more, text: n.prompt ?? "", after: n.after ?? [], checks: n.review?.checks ?? n.checks ?? [], status: "pending" };
}

// work returns what a step does in a few words: the beginning of its task, up to a colon or the end of the sentence, and more of it; or the call of its tool.
function work(n) {
  if (!n.worker) return { title: `${humanized(n.tool ?? "")} ${object(typeof n.input === "string" ? n.input : JSON.stringify(n.input ?? {}))}`.trim(), more: "" };
  const text = (n.prompt ?? "").replace(/\s+/g, " ").trim();
  const [, title, more] = text.match(/^(.{8,90}?)(?::\s+|[.!?](?:\s+|$)|$)(.*)$/) ?? [, oneLine(text, 90), text];
  return { title, more: more && more[0].toUpperCase() + more.slice(1) };
}

// changed says whether the version before has a step, and what it was there.
function changed(n, before) {
  if (!before) return {};
  const old = before.find((m) => m.id === n.id);
  if (!old) return { change: "added" };
  const same = ["worker", "tool", "prompt", "input", "after", "checks", "rounds"].every((key) => JSON.stringify(old[key] ?? null) === JSON.stringify(n[key] ?? null));
  return same ? {} : { change: "changed", was: old.prompt === n.prompt ? "" : old.prompt || work(old).title };
}

// stateOf returns how far a step of a run is.
function stateOf(step, live) {
  if (!step) return {};
  const { state, said, files, runs } = step;
  const status = state.Undone ? "undone" : state.Status;
  return { status, round: state.Round, rounds: state.Rounds, note: state.Left || state.Error || "", because: state.Because, said: live?.said || said, calls: live?.calls, files: files ?? [], runs: runs ?? [] };
}

// layers sorts the ids of steps into layers: a step is in the first layer after all that it depends on.
function layers(nodes) {
  const needs = new Map(nodes.map((n) => [n.id, new Set([...(n.after ?? []), ...[...JSON.stringify(n.input ?? "").matchAll(/\$from\\*":\s*\\*"([\w-]+)/g)].map((m) => m[1])])]));
  const out = [];
  for (const placed = new Set(); placed.size < needs.size; ) {
    const layer = [...needs.keys()].filter((id) => !placed.has(id) && [...needs.get(id)].every((on) => placed.has(on)));
    if (layer.length === 0) return [...out, [...needs.keys()].filter((id) => !placed.has(id))];
    for (const id of layer) placed.add(id);
    out.push(layer);
  }
  return out;
}

// askOf returns what is shown of a pause: of the plan, of a call of a step, about a step that is stuck, or other, which is decided in the conversation.
export function askOf(p) {
  const choices = p.schema?.properties?.decision?.enum;
  const node = p.path?.[0] ?? "";
  const kind = p.kind === "approval" ? (node ? "call" : "plan") : p.kind === "question" && choices ? "step" : "other";
  return { id: p.id, node, kind, title: p.title ?? "", reason: p.reason ?? "", tool: p.call.name, call: kind === "call" ? p.call.input : null, preview: p.preview, refused: p.refused, scope: p.scope, scopes: p.scopes, always: p.always, choices };
}
