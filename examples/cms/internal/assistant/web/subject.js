// Which page of the site something in the conversation is about.

import { parsed } from "../page/format.js";

const slug = (s) => typeof s === "string" && /^[a-z0-9-]{2,64}$/.test(s) && !/^[0-9a-f]{8}-/.test(s);
const concerns = /page|section|contents|picture|entry/i;
const elsewhere = /\.list|Def$|Elements$/;

// pathOf returns the path in the preview of the page that a call is about; "" if it is about none.
export function pathOf(name, input, result) {
  const given = objectOf(input);
  const got = objectOf(result);
  if (name?.startsWith("plan.")) return ofPlan(given, result);
  if (!concerns.test(name) || elsewhere.test(name)) return "";
  const collection = [got.collection, got.entry?.collection, given.collection].find(slug);
  const entry = [got.entry?.slug, got.slug, given.newSlug, given.entry].find(slug);
  if (collection && /entry/i.test(name)) return entry ? `/${collection}/${entry}` : "";
  const linked = /\/pages\/([a-z0-9-]+)/.exec(got.url ?? "")?.[1];
  const found = [linked, got.slug, got.page?.slug, got.page, result ? given.newSlug : "", given.page, given.slug, given.id, /createPage$/.test(name) ? slugOf(given.name) : ""].find(slug);
  return found ? `/pages/${found}` : "";
}

// slugOf is the address that a page of a name gets if that isn't taken.
const slugOf = (name) => String(name ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

// inputOf returns the input of a step of a plan as JSON text, as models write it, or the plan itself has it.
export const inputOf = ({ input }) => (typeof input === "string" ? input : JSON.stringify(input ?? {}));

// ofPlan returns the path of what the last step of a plan has answered, or is about.
function ofPlan(plan, result) {
  for (const [, json] of [...String(result ?? "").matchAll(/^\S+ answered: ({.*})$/gm)].reverse()) {
    const path = pathOf("page", "{}", json);
    if (path) return path;
  }
  for (const node of (plan.nodes ?? []).toReversed()) {
    const path = pathOf(node.tool, inputOf(node), "");
    if (path) return path;
  }
  return "";
}

function objectOf(text) {
  const value = text ? parsed(text.replace(/^<data>|<\/data>$/g, "")) : null;
  return value && typeof value === "object" && !Array.isArray(value) ? value : {};
}

// sectionOf returns the id of the section that a call is about; "" if it is about none.
function sectionOf(input, result) {
  const [given, got] = [objectOf(input), objectOf(result)];
  return [given.sectionId, given.section, got.section?.id, got.id].find((s) => typeof s === "string" && s.startsWith("sec_")) ?? "";
}

// subject returns what the preview should show: {key, path, section, call, gone}. The call is one that waits for a decision, and gone says that it
// deletes the page. It is null if nothing in the conversation is about a page.
export function subject(model) {
  const open = model.asked().filter((i) => i.pause.ask === "approval").at(-1);
  const last = lastCall(model);
  if (!open) return last;
  const { name, input, call } = open.pause;
  const path = pathOf(name, input) || last?.path; // the agent has read the page whose section it wants to change
  return { key: open.id, path, section: sectionOf(input), call: open.id || call, gone: /deletePage|deleteEntry/.test(name) };
}

function lastCall(model) {
  for (const item of [...model.items.values()].reverse()) {
    if (item.kind !== "call" || item.status !== "ok") continue;
    const path = pathOf(item.name, item.input, item.result);
    const gone = item.undone ? /createPage|clonePage/.test(item.name) : /deletePage|deleteEntry/.test(item.name);
    if (path) return { key: `${item.id} ${item.undone ? "undone" : ""}`, path: gone ? "/pages/home" : path, section: sectionOf(item.input, item.result) };
  }
  return null;
}
