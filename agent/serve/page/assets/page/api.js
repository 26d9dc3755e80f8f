// Requests to the server. All addresses are relative to the folder above that of the modules, so that the page works below any prefix, and a host's own
// page at any address.

import { sentence } from "./format.js";
import { texts } from "./texts.js";

const at = (path) => new URL(`../${path}`, import.meta.url).href;

// A Problem is an answer that isn't a success. retry is after how many seconds it may be tried again, if the server says so.
export class Problem extends Error {
  constructor(body, status, retry) {
    super(words(body, status));
    this.code = body.code ?? "network";
    this.status = status;
    this.trace = body.trace;
    this.retry = Number(retry) || 0;
  }
}

function words(body, status) {
  if (status === 0) return texts.problem.network;
  const known = texts.problem[body.code];
  if (typeof known === "string") return known;
  return body.detail ? sentence(body.detail) : texts.problem.internal;
}

async function request(method, path, body, { headers, ...options } = {}) {
  let response;
  try {
    response = await fetch(at(path), {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json", ...headers },
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
      ...options,
    });
  } catch {
    throw new Problem({}, 0);
  }
  const text = await response.text();
  let answer = {};
  try {
    answer = text ? JSON.parse(text) : {};
  } catch {
    // It wasn't made by this server: a proxy's page.
  }
  if (!response.ok) throw new Problem(answer, response.status, response.headers.get("Retry-After"));
  return answer;
}

const query = (params) => new URLSearchParams(Object.entries(params).filter(([, v]) => v)).toString();

export const api = {
  config: () => request("GET", "config"),
  sessions: (after) => request("GET", `sessions?${query({ limit: "50", after })}`),
  send: (message, headers) => request("POST", "sessions/send", message, { headers }),
  stop: (session) => request("POST", "sessions/cancel", { session }),
  continue: (session) => request("POST", "sessions/continue", { session }),
  mode: (session, mode) => request("POST", "sessions/mode", { session, mode }),
  title: (session, title) => request("POST", "sessions/title", { session, title }),
  older: (session, before) => request("GET", `view/older?${query({ session, before })}`),
  undoable: (session, run) => request("GET", `sessions/undo?${query({ session, run })}`),
  undo: (session, run) => request("POST", "sessions/undo", { session, run }),
  delete: (session, leaving) => request("DELETE", `sessions?${query({ session })}`, undefined, { keepalive: leaving }),
  // exists fails with the problem that the stream of the session has; an EventSource doesn't say which. It returns what waits for a decision.
  exists: (session) => request("GET", `sessions/pending?${query({ session })}`),

  // decide sends a decision. Input and value are JSON text and are sent as they are, so that no number changes.
  decide(session, { id, decision, reason, scope, input, value }) {
    const fields = [`"id":${JSON.stringify(id)}`, `"decision":${JSON.stringify(decision)}`];
    if (reason) fields.push(`"reason":${JSON.stringify(reason)}`);
    if (scope) fields.push(`"scope":${JSON.stringify(scope)}`);
    if (input !== undefined) fields.push(`"input":${input}`);
    if (value !== undefined) fields.push(`"value":${value}`);
    return request("POST", "sessions/decide", `{"session":${JSON.stringify(session)},"decisions":[{${fields.join(",")}}]}`);
  },
};

// newID returns an id for a session or a message. crypto.randomUUID exists only on https.
export function newID() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

// A Stream reads what a session shows, from the last fact that it has read, until it is closed. It connects again by itself.
export class Stream {
  constructor(session, { patches, open, lost, failed }, paused = false) {
    Object.assign(this, { session, patches, open, lost, failed, paused, after: "", wait: 0 });
    this.connect();
  }

  // pause ends the connection until the stream is resumed: a browser has few of them to one server, and needs none for what nobody sees.
  pause() {
    this.paused = true;
    clearTimeout(this.timer);
    this.source?.close();
  }

  // resume reads on from the last fact.
  resume() {
    if (!this.paused) return;
    this.paused = false;
    this.wait = 0;
    this.connect();
  }

  connect() {
    clearTimeout(this.timer);
    if (this.closed || this.paused) return;
    this.source?.close();
    const source = new EventSource(at(`view?${query({ session: this.session, after: this.after })}`));
    this.source = source;
    source.onopen = () => this.open();
    source.onmessage = (event) => {
      this.wait = 0;
      if (event.lastEventId) this.after = event.lastEventId;
      this.patches(JSON.parse(event.data));
    };
    source.addEventListener("hint", (event) => {
      if (event.lastEventId) this.after = event.lastEventId;
    });
    source.onerror = () => {
      if (this.closed || this.paused || source !== this.source) return;
      source.close(); // the page waits longer each time, which an EventSource doesn't
      this.lost();
      this.again();
    };
  }

  async again() {
    await new Promise((resolve) => (this.timer = setTimeout(resolve, this.wait * (0.75 + Math.random() / 2))));
    this.wait = Math.min(this.wait * 2 || 500, 15_000);
    try {
      await api.exists(this.session);
    } catch (problem) {
      if (this.closed || this.paused) return;
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return this.failed(problem);
      return this.again();
    }
    this.connect();
  }

  // now connects at once, because the browser is online again.
  now() {
    if (this.closed || this.paused) return;
    if (this.source.readyState === EventSource.OPEN) this.open(); // it wasn't lost
    if (this.source.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.timer);
    this.wait = 0;
    this.connect();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.source?.close();
  }
}
