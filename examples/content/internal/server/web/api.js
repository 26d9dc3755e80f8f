// Requests to the server. An answer that isn't a success is thrown as a Problem.

import { words } from "./words.js";

export class Problem extends Error {
  constructor(status, body) {
    super(body.message ?? words.network);
    Object.assign(this, { status, category: "NETWORK" }, body);
  }
}

async function open(method, path, body) {
  let response;
  try {
    response = await fetch(path, { method, headers: body === undefined ? {} : { "Content-Type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Problem(0, {});
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new Problem(response.status, answer.error ?? {});
}

export async function api(method, path, body) {
  const response = await open(method, path, body);
  return response.status === 204 ? null : response.json();
}

// ask sends a message to the agent and returns the answer. on(name, data) is called for each event until then.
export async function ask(message, screenContext, on = () => {}) {
  const response = await open("POST", "/api/content-agent/stream", { message, screenContext });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", answer;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [name, data] = text.slice(0, end).split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
        text = text.slice(end + 2);
        if (name === "done") answer = JSON.parse(data);
        else on(name, JSON.parse(data));
      }
    }
  } catch {
    throw new Problem(0, {});
  }
  if (!answer) throw new Problem(0, {});
  if (answer.error) throw new Problem(200, { ...answer.error, answer });
  return answer;
}
