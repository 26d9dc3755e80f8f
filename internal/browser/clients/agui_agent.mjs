// Runs the stock client of AG-UI over HTTP, with what docs/serve.md adds to it. The arguments are an address and a thread. Each line on the standard input is
// a step, and the answer to it is a line on the standard output. A step has messages to set ("messages") or one to add ("message"), answers ("resume"), or none
// of these. "new" begins with another client, as after a reload, and loads the thread; "connect" connects to it. "background" leaves the run in progress: a
// later step with "wait" waits for its end. "abort" or "detach" is the type of an event at which the client stops the run, or only stops reading.
import readline from "node:readline";
import { PawlAgent } from "./agui_client.mjs";

let warnings = [];
console.warn = (...args) => warnings.push(args.join(" "));
console.error = () => {}; // what the client throws, too

const [url, threadId] = process.argv.slice(2);
const fresh = () => new PawlAgent({ url, threadId, headers: { User: "ann" } });
let agent = fresh();
let left; // the run in the background

async function run(step, out) {
  const parameters = { resume: step.resume, runId: step.runId };
  await agent[step.connect ? "connectAgent" : "runAgent"](parameters, {
    onEvent: ({ event }) => {
      out.types.push(event.type);
      if (event.type === step.abort) agent.abortRun();
      if (event.type === step.detach) void agent.detachActiveRun();
    },
    onRunFinishedEvent: ({ outcome, pendingToolCallIds }) => { Object.assign(out, { outcome, pendingToolCallIds }); },
    onRunErrorEvent: ({ event }) => { out.failed = event.message; },
    onRunFailed: ({ error }) => { out.failed ||= error.message; },
  }).catch((e) => { out.failed ||= e.message; });
  return out;
}

async function take(step) {
  warnings = [];
  let out = { types: [], failed: "", outcome: "" };
  if (step.new) {
    agent = fresh();
    out.running = await agent.load();
  }
  if (step.messages) agent.setMessages(step.messages);
  if (step.message) agent.addMessage(step.message);
  if (step.stop) agent.abortRun();
  if (step.wait) out = await left;
  else if (step.background) left = run(step, out);
  else if (!step.idle) await run(step, out);
  return { ...out, warnings, messages: agent.messages, interrupts: agent.pendingInterrupts, state: agent.state };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await take(JSON.parse(line))) + "\n");
}
