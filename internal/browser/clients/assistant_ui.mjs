// Runs assistant-ui with its runtime for AG-UI, with React's test renderer instead of a page. Each line on the standard input is a step, and the answer to it,
// what the thread shows, is a line on the standard output. A step begins with another page ("open", an address, and "thread"), which loads the thread; says
// something ("say"), also while interrupts are open ("away") or in the place of a message ("edit", its index); decides on the call that asks ("approve"); gives a
// result of the newest call ("result") or its error ("error"); asks for another answer ("again", the index of the old one); or stops ("stop"). It waits for a text
// ("until"), or until no run is in progress.
import readline from "node:readline";
import React from "react";
import { create } from "react-test-renderer";
import { AssistantRuntimeProvider, ExportedMessageRepository } from "@assistant-ui/react";
import { fromAgUiMessages, useAgUiRuntime, useAgUiSteerAway, useAgUiSubmitInterruptResponses } from "@assistant-ui/react-ag-ui";
// its own version, which is older than the newest one
import { HttpAgent } from "./node_modules/@assistant-ui/react-ag-ui/node_modules/@ag-ui/client/dist/index.mjs";

const warnings = [];
console.warn = console.error = (...args) => {
  if (!/react-test-renderer|Agent execution failed|Message append failed|terminated|fetch failed/.test(args.join(" "))) warnings.push(args.join(" "));
};
process.on("unhandledRejection", () => {}); // the client doesn't catch all that a connection which breaks throws

const pages = new Map();

class Agent extends HttpAgent {
  streams = 0;

  // runAgent has the messages loaded again after a message to a run in progress: the client goes on reading the first stream beside the second one, and which of
  // them ends first decides what it shows.
  async runAgent(...args) {
    this.stale = ++this.streams > 1 || this.stale;
    try {
      return await super.runAgent(...args);
    } finally {
      if (--this.streams === 0 && this.stale) setTimeout(() => this.reload());
    }
  }

  abortRun() {
    void fetch(`${this.url}/cancel`, { method: "POST", headers: { User: "ann", "Content-Type": "application/json" }, body: JSON.stringify({ thread: this.threadId }) });
    super.abortRun();
  }
}

// history loads a thread as a page does: with what waits, and with the run in progress.
function history(page) {
  return {
    async load() {
      const res = await fetch(`${page.url}/messages?thread=${page.thread}`, { headers: { User: "ann" } });
      if (!res.ok) {
        page.expected = 0;
        return { headId: null, messages: [] };
      }
      const { messages, interrupts, running } = await res.json();
      const list = fromAgUiMessages(messages, { showThinking: true });
      if (interrupts?.length) {
        Object.assign(list.at(-1), { status: { type: "requires-action", reason: "interrupt" }, metadata: { custom: { agui: { interrupts } } } });
      }
      page.expected = list.length;
      return { ...ExportedMessageRepository.fromArray(list), unstable_resume: running };
    },
    async append() {},
  };
}

async function open(url, thread) {
  const page = { url, thread, error: "", expected: Infinity };
  const agent = new Agent({ url, threadId: thread, headers: { User: "ann" } });
  const options = { agent, showThinking: true, onError: (e) => { page.error = e.message; }, adapters: { history: history(page) } };
  page.agent = agent;
  agent.reload = async () => {
    const { messages, headId } = await options.adapters.history.load();
    page.runtime.thread.import({ messages, headId });
    agent.stale = false;
  };
  function Probe() {
    page.steerAway = useAgUiSteerAway();
    page.submit = useAgUiSubmitInterruptResponses();
    return null;
  }
  function Page() {
    page.runtime = useAgUiRuntime(options);
    return React.createElement(AssistantRuntimeProvider, { runtime: page.runtime }, React.createElement(Probe));
  }
  page.root = create(React.createElement(Page), { isConcurrent: true });
  await until(page, (t) => t?.messages.length >= page.expected);
  return page;
}

async function until(page, holds) {
  for (let i = 0; i < 2000; i++) {
    if (holds(page.runtime?.thread.getState())) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  warnings.push("it takes too long");
}

// interruptsOf returns what the thread waits for.
function interruptsOf(thread) {
  return thread.messages.at(-1)?.metadata?.custom?.agui?.interrupts ?? [];
}

// shown returns the messages as "role: parts". Those of the assistant in a row are one: a run is one message while it is read, and several after a reload.
function shown(thread) {
  const parts = (m) => m.content.map((p) => {
    switch (p.type) {
      case "text": return p.text;
      case "reasoning": return `(${p.text})`;
      case "tool-call": return `${p.toolName}${JSON.stringify(p.args)}${p.result === undefined ? "" : ` = ${typeof p.result === "string" ? p.result : JSON.stringify(p.result)}`}`;
      default: return "";
    }
  }).filter(Boolean).join(" ");
  const out = [];
  for (const [i, m] of thread.messages.entries()) {
    if (m.role === "assistant" && thread.messages[i - 1]?.role === "assistant") out.push(`${out.pop()} ${parts(m)}`);
    else out.push(`${m.role}: ${parts(m)}`);
  }
  return out;
}

async function take(step) {
  const name = step.client ?? "";
  if (step.open) pages.set(name, await open(step.open, step.thread));
  const page = pages.get(name);
  const { thread } = page.runtime;
  page.error = step.open ? page.error : "";
  const messages = thread.getState().messages;
  const newest = () => {
    for (const m of messages.toReversed()) {
      const call = m.content.findLast?.((p) => p.type === "tool-call" && p.result === undefined);
      if (call) return thread.getMessageById(m.id).getMessagePartByToolCallId(call.toolCallId);
    }
  };
  const acts = step.say || step.approve !== undefined || step.result || step.error || step.again !== undefined;
  let begun = !acts;
  const left = thread.subscribe(() => { const t = thread.getState(); begun ||= t.isRunning || t.messages !== messages && t.messages.at(-1)?.role === "assistant"; });
  const text = (value) => ({ role: "user", content: [{ type: "text", text: value }] });
  if (step.away) void page.steerAway(text(step.say));
  else if (step.edit !== undefined) thread.append({ ...text(step.say), parentId: messages[step.edit - 1]?.id ?? null, sourceId: messages[step.edit].id });
  else if (step.say) thread.append(text(step.say));
  else if (step.approve !== undefined && newest().getState().approval) void newest().respondToToolApproval({ approved: step.approve });
  else if (step.approve !== undefined) { // after a reload, a page answers the interrupts themselves
    void page.submit(interruptsOf(thread.getState()).map((i) => ({ interruptId: i.id, status: "resolved", payload: { approved: step.approve } })));
  }
  else if (step.result) newest().addToolResult(step.result);
  else if (step.error) newest().addToolResult({ result: step.error, isError: true, [Symbol.for("aui.tool-response")]: true });
  else if (step.again !== undefined) thread.getMessageById(messages[step.again].id).reload();
  if (step.stop) thread.cancelRun();
  if (step.until) await until(page, (t) => JSON.stringify(shown(t)).includes(step.until));
  else await until(page, (t) => begun && !t.isRunning && !page.agent.stale);
  left();
  const state = page.runtime.thread.getState();
  const last = state.messages.at(-1)?.status;
  return { shown: shown(state), error: page.error || (last?.type === "incomplete" && last.error ? String(last.error) : ""), interrupts: interruptsOf(state).length, warnings: warnings.splice(0) };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await take(JSON.parse(line))) + "\n");
}
