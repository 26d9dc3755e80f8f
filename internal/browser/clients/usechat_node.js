// Runs chats of a stock client, without a page. Each line on the standard input is a step of a chat, and the answer to it is a line on the standard output, with
// the same number.
import readline from "node:readline";
import { Chat } from "client";
import { safeValidateUIMessages } from "ai";
import { options, stop } from "./usechat.js";

const chats = {};
const pause = () => new Promise((done) => setTimeout(done, 5));

async function open({ chat: name, api, id, wait }) {
  const answer = await fetch(`${api}/${id}/messages`);
  const messages = answer.ok ? (await answer.json()).messages : [];
  if (messages.length > 0) { // as a server with the AI SDK does when it loads them
    const valid = await safeValidateUIMessages({ messages });
    if (!valid.success) throw valid.error;
  }
  const chat = chats[name] = { api, id, errors: [], closed: false };
  const own = options({ api, id, messages, wait, chat: () => chat.it.hook ?? chat.hook });
  chat.it = new Chat({ ...own, server: api, onError: (e) => { chat.errors.push(`${e.name}: ${e.message}`); own.onError(e); },
    onFinish: (end) => { if (!chat.closed) own.onFinish(end); } });
  chat.hook = { // what useChat returns, as far as it is used
    setMessages: (m) => { chat.it.messages = typeof m === "function" ? m(chat.it.messages) : m; },
    resumeStream: () => chat.it.resumeStream(),
  };
  const resumed = chat.it.resumeStream();
  let over = false;
  resumed.finally(() => { over = true; });
  while (!over && chat.it.status === "ready") await pause(); // until it knows whether an answer is in progress
}

async function waitFor(chat, { status, text, times = 1, count }) {
  for (let i = 0; i < 3000; i++) {
    const shown = JSON.stringify(chat.it.messages) + chat.it.error;
    if ((!status || chat.it.status === status) && (!text || shown.split(text).length > times) && (!count || chat.it.messages.length === count) && !chat.it.hidden?.().length) return "";
    await pause();
  }
  return `it waited in vain for ${JSON.stringify({ status, text, count })}`;
}

async function step(s) {
  if (s.op === "open") await open(s);
  const chat = chats[s.chat];
  let failure = "";
  switch (s.op) {
    case "send": chat.it.sendMessage(s.message, { body: s.body }); break;
    case "answer": for (const a of s.answers) await chat.it.addToolApprovalResponse(a); break;
    case "output": chat.it.addToolOutput(s.output); break;
    case "regenerate": chat.it.regenerate({ messageId: s.message }); break;
    case "cut": chat.it.messages = chat.it.messages.slice(0, s.count); break;
    case "stop": await (chat.it.cancel ? chat.it.cancel() : stop(chat.api, chat.id)); break;
    case "close": chat.closed = true; await chat.it.stop(); break;
    case "wait": failure = await waitFor(chat, s);
  }
  return { n: s.n, failure, status: chat.it.status, error: chat.it.error?.message ?? "", errors: chat.errors, messages: chat.it.messages };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const s = JSON.parse(line);
  step(s).catch((e) => ({ n: s.n, failure: String(e.stack), messages: [] })).then((answer) => process.stdout.write(JSON.stringify(answer) + "\n"));
}
process.exit(0);
