// Runs the stock client of AG-UI over HTTP. The arguments are an address and a thread. Each line on the standard input is a step, and the answer to it is a line
// on the standard output. A step has a message to add ("message"), answers ("resume"), or both or none; "abort" is the type of an event at which the client
// disconnects.
import readline from "node:readline";
import { HttpAgent } from "@ag-ui/client";

let warnings = [];
console.warn = (...args) => warnings.push(args.join(" "));
console.error = () => {}; // what the client throws, too

const [url, threadId] = process.argv.slice(2);
const agent = new HttpAgent({ url, threadId, headers: { User: "ann" } });

async function run(step) {
  const out = { types: [], failed: "", outcome: "" };
  warnings = [];
  if (step.message) agent.addMessage(step.message);
  await agent.runAgent({ resume: step.resume }, {
    onEvent: ({ event }) => {
      out.types.push(event.type);
      if (event.type === step.abort) agent.abortRun();
    },
    onRunFinishedEvent: ({ outcome, pendingToolCallIds }) => { Object.assign(out, { outcome, pendingToolCallIds }); },
    onRunFailed: ({ error }) => { out.failed = error.message; },
  }).catch((e) => { out.failed ||= e.message; });
  return { ...out, warnings, messages: agent.messages, interrupts: agent.pendingInterrupts, state: agent.state };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await run(JSON.parse(line))) + "\n");
}
