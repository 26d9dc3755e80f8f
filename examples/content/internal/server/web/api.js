// Requests to the server. An answer that isn't a success is thrown as a Problem.

import { words } from "./words.js";

export class Problem extends Error {
  constructor(status, body) {
    super(body.message ?? words.network);
    Object.assign(this, { status, category: "NETWORK" }, body);
  }
}

// expired goes to the login, which leads back to this page. What was typed is kept.
export const expired = () => location.assign(`/login?back=${encodeURIComponent(location.pathname + location.search)}`);

export async function api(method, path, body) {
  let response;
  try {
    response = await fetch(path, { method, headers: body === undefined ? {} : { "Content-Type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Problem(0, {});
  }
  if (response.ok) return response.status === 204 ? null : response.json();
  if (response.status === 401 && location.pathname !== "/login") {
    expired();
    return new Promise(() => {}); // the page goes
  }
  const answer = await response.json().catch(() => ({}));
  throw new Problem(response.status, answer.error ?? {});
}
