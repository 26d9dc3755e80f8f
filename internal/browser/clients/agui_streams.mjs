// Reads streams as stock clients of AG-UI do: on the standard input, a JSON array of streams, each an array of events as text; on the standard output, for
// each of them an array of what is wrong with it.
import { text } from "node:stream/consumers";
import { HttpAgent, verifyEvents } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";
import { from, lastValueFrom, toArray } from "rxjs";

let warnings = [];
console.warn = (...args) => warnings.push(args.join(" "));
console.error = () => {}; // what the client throws, too

async function wrong(stream) {
  const found = [];
  const events = stream.map((line) => JSON.parse(line));
  for (const event of events) {
    const result = EventSchemas.safeParse(event);
    if (!result.success) found.push(`the schema rejects ${JSON.stringify(event)}: ${result.error.message}`);
  }
  await lastValueFrom(from(events).pipe(verifyEvents(), toArray())).catch((e) => found.push(`verifyEvents: ${e.message}`));

  // The client over HTTP also removes what its schemas don't have, and warns of it.
  warnings = [];
  const body = stream.map((line) => `data: ${line}\n\n`).join("");
  const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const reports = events.some((event) => event.type === "RUN_ERROR");
  const seen = [];
  const failed = (e) => { if (!reports) found.push(`HttpAgent: ${e.message}`); };
  const agent = new HttpAgent({ url: "http://server.test/", fetch: answer });
  await agent.runAgent({}, { onEvent: ({ event }) => { seen.push(event.type); }, onRunFailed: ({ error }) => failed(error) }).catch(failed);
  for (const warning of warnings) {
    if (warning.includes("[enforce]")) found.push(warning);
  }
  if (seen.length < events.length) found.push(`HttpAgent saw ${seen.length} of ${events.length} events`);
  return found;
}

const out = [];
for (const stream of JSON.parse(await text(process.stdin))) out.push(await wrong(stream));
process.stdout.write(JSON.stringify(out));
