// Requests to the site's REST API, which the page's own server has. What fails is an Error with a sentence for people.

import { naming, sentence } from "../page/format.js";
import { texts } from "../page/texts.js";
import { words } from "./words.js";

const base = "../v1/teams/dev-team/sites/local-site/environments/main";

function failure(status, body) {
  if (status === 0) return new Error(texts.problem.network);
  return new Error(body?.error?.message ? sentence(naming.problem(body.error.message)) : words.failed[status] ?? texts.problem.internal);
}

export async function rest(path, method = "GET", body) {
  let answer;
  try {
    answer = await fetch(base + path, { method, headers: body ? { "Content-Type": "application/json" } : {}, body: body && JSON.stringify(body) });
  } catch {
    throw failure(0);
  }
  const json = await answer.json().catch(() => null);
  if (!answer.ok) throw failure(answer.status, json);
  return json?.data;
}

export const list = async (path, query = {}) => (await rest(`${path}?${new URLSearchParams({ limit: 100, ...query })}`)).items;

// upload sends a file to the media library, and returns what it is there. progress is called with the part that is sent, from 0 to 1.
export function upload(file, progress) {
  const form = new FormData();
  form.append("file", file, file.name);
  const request = new XMLHttpRequest(); // fetch can't say how far it is
  request.open("POST", `${base}/media`);
  request.responseType = "json";
  request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total);
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(failure(0));
    request.onload = () => (request.status < 300 ? resolve(request.response?.data) : reject(failure(request.status, request.response)));
    request.send(form);
  });
}
