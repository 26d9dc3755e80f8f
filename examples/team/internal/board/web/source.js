// Where the board comes from: the parts that have changed, as the server sends them.

import { Problem } from "../page/api.js";

// A Source reads the board of a session until it is closed, and connects again by itself. A tab that nobody sees has no connection.
export class Source {
  constructor(session, { parts, lost }) {
    Object.assign(this, { session, parts, lost, wait: 0 });
    this.seen = () => (document.hidden ? this.pause() : this.connect());
    document.addEventListener("visibilitychange", this.seen);
    if (!document.hidden) this.connect();
  }

  connect() {
    this.pause();
    const source = new EventSource(`board?${new URLSearchParams({ session: this.session })}`);
    this.source = source;
    let first = true; // the first message is the whole
    source.onmessage = (event) => {
      this.wait = 0;
      this.lost(false);
      this.parts(JSON.parse(event.data), first);
      first = false;
    };
    source.onerror = () => {
      if (source !== this.source) return;
      source.close();
      this.lost(true);
      this.timer = setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2));
      this.wait = Math.min(this.wait * 2 || 500, 15_000);
    };
  }

  pause() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  close() {
    document.removeEventListener("visibilitychange", this.seen);
    this.pause();
  }
}

// post asks the server to do something: decide, undo or revoke.
export async function post(what, body) {
  let response;
  try {
    response = await fetch(`board/${what}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    throw new Problem({}, 0);
  }
  if (!response.ok) throw new Problem(await response.json().catch(() => ({})), response.status);
}
