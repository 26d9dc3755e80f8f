// Runs stock clients of AG-UI over HTTP, with what docs/serve.md adds to them. Each line on the standard input is a step, and the answer to it is a line on the
// standard output. A step is of a client by its name ("client"), and begins with "open", an address, and "thread" if there is none yet. It has messages to set
// ("messages") or one to add ("message"), answers ("resume"), or none of these. "new" begins with another client, as after a reload, and loads the thread;
// "connect" connects to it. "background" leaves the run in progress, once there was an event of the type that it names: a later step with "wait" waits for its
// end. "abort" or "detach" is the type of an event at which the client stops the run, or only stops reading.
import readline from "node:readline";
import { PawlAgent } from "./agui_client.mjs";

let warnings = [];
console.warn = (...args) => warnings.push(args.join(" "));
console.error = () => {}; // what the client throws, too
process.on("unhandledRejection", () => {}); // the client doesn't catch all that a connection which breaks throws

const clients = new Map();

async function run(client, step, out, seen) {
  const { agent } = client;
  const failed = (e) => { if (e.name !== "AbortError") out.failed ||= e.message; };
  const parameters = { resume: step.resume, runId: step.runId };
  await agent[step.connect ? "connectAgent" : "runAgent"](parameters, {
    onEvent: ({ event }) => {
      out.types.push(event.type);
      seen(event.type);
      if (event.type === step.abort) agent.abortRun();
      if (event.type === step.detach) void agent.detachActiveRun();
    },
    onRunFinishedEvent: ({ outcome, pendingToolCallIds }) => { Object.assign(out, { outcome, pendingToolCallIds }); },
    onRunErrorEvent: ({ event }) => { if (event.code !== "abort") out.failed = event.message; }, // the client's own, after abortRun
    onRunFailed: ({ error }) => failed(error),
  }).catch(failed);
  seen("");
  return out;
}

async function take(step) {
  if (step.open) clients.set(step.client, { url: step.open, thread: step.thread });
  const client = clients.get(step.client);
  let out = { types: [], failed: "", outcome: "" };
  if (step.open || step.new) {
    client.agent = new PawlAgent({ url: client.url, threadId: client.thread, headers: { User: "ann" } });
    client.left = undefined;
  }
  if (step.new) out.running = await client.agent.load();
  if (step.messages) client.agent.setMessages(step.messages);
  if (step.message) client.agent.addMessage(step.message);
  if (step.wait) out = await client.left;
  else if (step.background) {
    await new Promise((resolve) => {
      client.left = run(client, step, out, (type) => { if (type === step.background || type === "") resolve(); });
    });
  } else if (!step.idle) await run(client, step, out, () => {});
  const { messages, pendingInterrupts, state } = client.agent;
  const answer = { ...out, warnings, messages, interrupts: pendingInterrupts, state };
  warnings = [];
  return answer;
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await take(JSON.parse(line))) + "\n");
}
