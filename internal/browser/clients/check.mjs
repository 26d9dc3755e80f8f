// Reads what stock clients make of streams: on the standard input, a JSON array of {version, message, chunks}; on the standard output, for each of
// them {message} or {error}. The message is what the client has when it begins; null: nothing.
import { text } from "node:stream/consumers";

const versions = {};
for (const name of ["ai600", "ai6", "ai700", "ai7077", "ai7"]) versions[name] = await import(name);

// validated throws unless a chunk is one of the version's schema.
async function validated(ai, chunk) {
  let schema = ai.uiMessageChunkSchema;
  if (typeof schema === "function") schema = schema();
  const result = await schema.validate(chunk);
  if (!result.success) throw result.error;
  return result.value;
}

// built returns the message that a client builds from chunks.
async function built(ai, message, chunks) {
  const checked = [];
  for (const chunk of chunks) checked.push(await validated(ai, chunk));
  let failure;
  let last = message ?? { id: "", role: "assistant", parts: [] };
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of checked) controller.enqueue(chunk);
      controller.close();
    },
  });
  const messages = ai.readUIMessageStream({
    message: message ?? undefined,
    stream,
    terminateOnError: true,
    onError: (e) => { failure = e; },
  });
  try {
    for await (const m of messages) last = m;
  } catch (e) {
    failure ??= e;
  }
  return { message: last, error: failure && String(failure.message) };
}

const answers = [];
for (const { version, message, chunks } of JSON.parse(await text(process.stdin))) {
  try {
    answers.push(await built(versions[version], message, chunks));
  } catch (e) {
    answers.push({ error: String(e.message).slice(0, 2000) });
  }
}
process.stdout.write(JSON.stringify(answers));
