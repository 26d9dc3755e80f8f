// All words of the assistant's page, besides those of the chat.

import { count, duration, humanized, naming } from "../page/format.js";
import { texts } from "../page/texts.js";

// The chat's own words, where this page knows better ones.
Object.assign(texts, {
  emptyTitle: "What should change on the site?",
  emptyText: "Ask about the site, or describe a change. You see it in the preview as it happens, and you are asked before anything is deleted.",
});
naming.tool = (name) => humanized(name.replace(/^(cms|http)\./, ""));
// Results have the ids of pages, sections and so on, with their names. They may be cut, so they aren't parsed as JSON.
const names = new Map();
naming.learn = (text) => {
  for (const [, id, name] of text.matchAll(/"id":\s*"([a-z]+_\w+)"[^{}]*?"(?:name|title)":\s*("(?:[^"\\]|\\.)+")/g)) names.set(id, JSON.parse(name));
};
naming.name = (text) => names.get(text) ?? text;
naming.subjects = ["page", "entry", "section", "collection", "query", "name", "title", "slug"];
texts.ask.suggest = "Ask for an alternative";
texts.ask.why = "What this means";
texts.keys.splice(0, 1, ["/", "Search the message history"]);
texts.keys.push(["Alt + 1, 2, 3", "Go to the history, the assistant, the preview"]);

export const words = {
  areas: { log: "History", chat: "Assistant", preview: "Preview" },
  areasLabel: "Areas",
  log: "Message history",
  width: (left, right) => `Width of ${left} and ${right}`,

  modes: {
    "cms-crud": ["Edit", "Changes the site. Asks before it deletes something"],
    architect: ["Plan", "Looks at the site and checks plans. Changes nothing"],
    debug: ["Debug", "Looks for the cause of a problem. At most one correction"],
    ask: ["Ask", "Answers questions. Changes nothing"],
  },
  mode: "Mode",
  show: "View",
  showCalls: "Tool calls",
  showReasoning: "Reasoning",
  clearSession: "Clear this chat",
  phases: { planning: "Planning", executing: "Working", verifying: "Checking", reflecting: "Reviewing the answer", completed: "Done", stuck: "Stuck", escalated: "Needs help" },
  progress: (done, all) => `${done} of ${all} calls`,

  kinds: {
    user: "You",
    system: "Instructions",
    reasoning: "Reasoning",
    call: "Tool call",
    result: "Tool result",
    validation: "Validation",
    handoff: "Mode",
    approval: "Approval",
    delta: "Streaming",
    answer: "Assistant",
    event: "Event",
    error: "Error",
    metadata: "Metadata",
  },
  labels: { "phase-transition": "Phase", "finish": "End", "preflight_result": "Check", "plan-selected": "Plan", "plans-generated": "Plans" },
  search: "Search, or a trace id",
  filter: "Filter",
  filterCount: (n) => `Filter (${n} hidden)`,
  all: "Show all",
  pause: "Pause scrolling",
  follow: "Follow the end",
  export: "Export as JSON",
  clear: "Clear the list",
  cleared: "Cleared. The history itself is kept; reload to see it again.",
  exported: "Exported",
  entries: (n, all) => (n === all ? `${all}` : `${n} of ${all}`),
  noEntries: "What the assistant does is listed here: messages, tool calls, results, approvals.",
  noMatch: "Nothing matches.",
  nothing: "nothing",
  copy: "Copy JSON",
  trace: "Only this trace",
  inChat: "Show in the chat",
  titles: {
    "mode_switch": (e) => `${words.modes[e.from]?.[0] ?? "Start"} → ${words.modes[e.to]?.[0] ?? e.to}${e.reason ? `: ${e.reason}` : ""}`,
    "phase-transition": (e) => `${words.phases[e.to] ?? e.to}`,
    "progress-update": (e) => `Progress: ${words.progress(e.completed, e.completed + e.pending)}`,
    "complexity-detected": (e) => e.message,
    "reflection-start": () => "The answer is checked",
    "reflection-complete": (e) => `The answer was checked: ${Math.round(e.qualityScore * 100)} of 100${e.improved ? ", and improved" : ""}`,
    "preflight_result": (e) => (e.valid ? "The plan can be carried out" : `The plan has ${words.planProblems(e.issues?.length ?? 0)}`),
    "plans-generated": (e) => `${e.count} plans`,
    "plan-selected": (e) => `Plan: ${e.plan?.name}${e.plan?.isBackup ? " (backup)" : ""}`,
    "plan-failed": (e) => `Plan failed: ${e.plan}`,
    plan: (e) => `Plan “${e.title}”: ${e.done} of ${e.steps?.length} steps`,
    "tool-retry": (e) => `${e.tool || "The tool"} is tried again${e.error ? `: ${e.error}` : ""}`,
    "tool-fallback": (e) => `${e.fallbackTool} instead of ${e.originalTool}`,
    "breaker-open": (e) => `${e.tool} is out of service for ${e.seconds} s`,
    "error-escalation": (e) => `${e.tool || "Model"}: ${e.reason}`,
    "validation_failed": (e) => `${e.toolName}, attempt ${e.retryAttempt}: ${e.actual}`,
    "approval_required": (e) => `${e.title ?? e.toolName}: waits for a decision`,
    "approval_decided": (e) => `${texts.decided[e.decision] ?? e.decision}${e.by ? ` by ${e.by}` : ""}`,
    "system-prompt": (e) => `Mode ${words.modes[e.mode]?.[0] ?? e.mode}, ${e.tools?.length ?? 0} tools`,
    "step-complete": (e) => `${e.stepId}: ${e.toolCalls === 1 ? "1 call" : `${e.toolCalls} calls`}`,
    metadata: (e) => `${e.model || "Model"} · ${e.tokens.input} + ${e.tokens.output} tokens`,
    finish: (e) => `${texts.status[e.status] ?? e.status}${e.durationMs ? ` in ${duration(e.durationMs)}` : ""}, ${count(e.usage.input + e.usage.output)} tokens`,
    paused: () => "Waiting",
    waiting: (e) => texts.waiting[e.reason] ?? texts.waiting.other,
    compacted: () => texts.notice.compacted,
  },

  approvalTitle: "Approval required",
  approvalText: "The assistant waits. Nothing happens until you decide, and without a decision in time it counts as rejected.",
  doubtTitle: "Work was interrupted",
  doubtText: "The server stopped in the middle of a call. Look at the preview, and decide what became of it. Then the assistant continues.",
  callJSON: "The call as JSON",
  expired: "Nobody decided in time, so the call was rejected.",
  escalationTitle: "The assistant needs help",
  remedies: "What may help",
  tell: "Tell the assistant what to do",
  tellText: (tool) => `Regarding ${tool}: `,

  finished: "The assistant is done.",
  answered: "The assistant has answered.",
  see: "Show",

  plan: "Plan",
  plans: "Plans",
  planBackup: "backup",
  planFits: (n) => `can be carried out, ${n === 1 ? "1 step" : `${n} steps`}`,
  planProblems: (n) => (n === 1 ? "1 problem" : `${n} problems`),
  planDone: (done, all) => `${done} of ${all} done`,
  planFailed: (why) => `Failed: ${why}`,
  score: (score) => `${Math.round(100 * score)} %`,
  scoreTitle: "How likely it is that the plan can be carried out",
  risks: "Risks",
  carryOut: "Carry it out",

  previewNone: "The preview server isn’t configured.",
  openPreview: "Open in a new tab",
  reload: "Reload",
  address: "Page that is shown",
  phone: "Width of a phone",
  frame: (path) => `The page ${path}`,
};
