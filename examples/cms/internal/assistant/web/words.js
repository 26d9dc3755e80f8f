// All words of the assistant's page, besides those of the chat.

import { count, duration, humanized, naming, object } from "../page/format.js";
import { texts } from "../page/texts.js";

// The chat's own words, where this page knows better ones.
Object.assign(texts, {
  emptyTitle: "What should change on the site?",
  emptyText: "Ask about the site, or describe a change. It is saved at once, you see it in the preview, and it can be undone. New pages are drafts, which visitors don’t see. You are asked before anything is deleted.",
  write: "Describe a change, or ask",
});
texts.openDecisions = "Decide with the buttons above. Sending this message rejects what you are asked.";
texts.status.paused = "Waiting for your decision";
texts.undoing.button = "Undo";
texts.notice.mode = (name) => `Mode: ${words.modes[name]?.[0] ?? name}`;
texts.ask.suggest = "Ask for an alternative";
texts.ask.why = "What this means";
const { alwaysIn } = texts.ask;
texts.ask.alwaysIn = (scope, where) => {
  const tool = /^all calls of `?([\w.]+?)`?, in this (?:session|chat)$/.exec(where)?.[1];
  return tool ? `Always allow “${naming.tool(tool)}” in this chat` : alwaysIn(scope, where);
};
Object.assign(texts.ask, { high: "Visitors see the change at once", medium: "Other pages or visitors may depend on it" });
texts.keys.splice(0, 1, ["/", "Search the site"]);
texts.keys.push(["Alt + 1, 2, 3", "Go to the site, the chat, the preview"]);
const tools = {
  "cms.upsertEntry": "Write entry", "cms.syncPageContents": "Change contents", "cms.addSectionToPage": "Add section", "cms.findResource": "Look up",
  "cms.validatePlan": "Check the plan", "cms.clonePage": "Copy page", "plan.submit": "Plan", "plan.choose": "Plans", "cms.createSectionDef": "Create section kind",
  "cms.updateSectionDef": "Change section kind", "cms.deleteSectionDef": "Delete section kind", "cms.syncSectionElements": "Change fields of section kind",
  "cms.createCollectionDef": "Create collection", "cms.syncCollectionElements": "Change fields of collection", skill: "Read about",
};
naming.tool = (name) => tools[name] ?? humanized(name.replace(/^(cms|http)\./, ""));
// Results have the ids of pages, sections and so on, with their names. They may be cut, so they aren't parsed as JSON.
const names = new Map();
naming.learn = (text) => {
  for (const [, id, name] of text.matchAll(/"id":\s*"([a-z]+_\w+)"[^{}]*?"(?:name|title)":\s*("(?:[^"\\]|\\.)+")/g)) names.set(id, JSON.parse(name));
};
naming.name = (text) => names.get(text) ?? text;
// Why something failed is written for models, too: with ids, and after a semicolon what they should do.
naming.problem = (text) => {
  const plain = text.replace(/; .*$/s, "").replace(/,? \(?id \w+_\w+\)?/g, "").replace(/\bsections\[\d+\]: /g, "").replace(/\bslug\b/g, "address").replace(/\bslot(s?)\b/g, "field$1");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
};
naming.subjects = ["page", "entry", "section", "sectionId", "media", "collection", "query", "name", "title", "slug"];

export const words = {
  title: "Site assistant",
  areas: { site: "Site", chat: "Chat", preview: "Preview" },
  areasLabel: "Areas",
  waitsIn: (name) => `${name} (waits for you)`,
  width: (name) => `Width of ${name}`,

  siteTitle: "Your site",
  searchSite: "Search the site",
  reloadSite: "Read the lists again",
  pages: "Pages",
  media: "Media",
  newPage: "New page",
  newEntry: (name) => `New entry in ${name}`,
  upload: "Upload files",
  nameIt: "Name",
  create: "Create",
  begun: "This text isn’t written yet.",
  noneYet: "None yet.",
  noMedia: "No files yet. Drop some here.",
  nothingFound: (q) => `Nothing is called “${q}”.`,
  siteFailed: "The site’s contents can’t be read. This is tried again every few seconds.",
  again: "Try again",
  draft: "Draft",
  published: "Published",
  publish: "Publish",
  unpublish: "Make it a draft",
  useIt: "Click to use it in your message",

  attach: "Upload a picture or file",
  uploading: (name) => `Uploading ${name}`,
  uploaded: (name) => `${name} is in the media library`,
  uploadedFile: (name) => `Uploaded file: ${name}`, // the agent reads it
  tooLarge: (name, most) => `${name} is too large. At most ${most} fit.`,
  notUploaded: (name, why) => `${name} wasn’t uploaded. ${why}`,
  failed: { 403: "This page may not ask the site’s server.", 413: "The file is too large.", 415: "Files of this type can’t be used. Pictures, videos, sounds, PDF and text can.", 507: "The disk is full. Make room, and try again.", 503: "The site’s database can’t be written. Look at the server’s log." },

  modes: { // a name, what it does, and what to write
    "cms-crud": ["Edit", "Changes the site. Asks before it deletes something", texts.write],
    architect: ["Plan", "Looks at the site and makes plans. Changes nothing before you agree", "Describe a change to plan"],
    debug: ["Debug", "Looks for the cause of a problem. At most one correction", "Describe a problem"],
    ask: ["Ask", "Answers questions. Changes nothing", "Ask; nothing is changed"],
  },
  mode: "Mode",
  model: "Model",
  modelText: (name) => `${name} writes the answers.`,
  standin: "Stand-in",
  standinTitle: "A script writes, not a model",
  standinText: ["It knows some fifteen requests, with any names and texts. Write “help” to see them. It needs no key and costs nothing.", "A model understands any sentence; its provider bills what it writes. End the program, and start it with a key and a model, for example:"],
  standinCommand: "OPENAI_API_KEY=… OPENAI_MODEL=… \\\n  go run ./examples/cms",
  standinEmpty: "A script answers, not a model: it knows some fifteen requests, and “help” lists them.",
  standinMore: "Anthropic, Gemini, OpenRouter, Ollama and others work the same way: see “With a model” in the README.",

  finished: "The assistant is done.",
  see: "Show",
  openPage: "Open the page",
  exactly: "The exact change",
  seePreview: "See it in the preview",
  sendIt: "Send this request",
  fillIn: "Put this into the message, to complete it",

  plansLead: "There are several ways. The one that works with the fewest steps comes first.",
  recommended: "Recommended",
  withSections: (kinds) => `with ${new Intl.ListFormat("en").format(kinds.map((k) => `a ${k.replaceAll("-", " ")}`))}`,
  planMisses: (what) => `Not all of it: ${what}`,
  planLacks: (why) => `It can’t work now: ${why}`,
  planRisks: (n) => (n === 1 ? "1 step is risky" : `${n} steps are risky`),
  planFits: "It does all that was asked for, and what it needs is there",
  planUndo: "Nothing is changed yet. Afterwards each step can be undone.",
  stepsOf: (n) => (n === 1 ? "1 step" : `${n} steps`),
  choosePlan: "Choose this plan",
  choosePlanNamed: (title) => `Choose this plan: ${title}`,
  noPlan: "None of them",
  noPlanWhy: "None, with a reason",

  tabs: { preview: "Preview", log: "Log", label: "Preview or log" },
  sides: { before: "Before", after: "After" },
  sidesLabel: "Before or after the change",
  sectionOn: (section, page) => (page ? `${section} on ${page}` : section),
  missing: "Not there",
  previewNone: "The preview isn’t configured.",
  openPreview: "Open in a new tab",
  reload: "Reload",
  phone: "Width of a phone",
  frame: (path) => `The page ${path}`,

  logTitle: "Log of this chat",
  searchLog: "Search the log",
  filter: "What is listed",
  matters: "What matters",
  kinds: { messages: "Messages", calls: "Calls", decisions: "Decisions", plans: "Plans", problems: "Problems", more: "Details" },
  types: { "user-message": "You", text: "Assistant", "text-end": "Assistant", "tool-call": "Call", "tool-input-available": "Call", "tool-result": "Call", "tool-retry": "Retry", "tool-fallback": "Instead", "breaker-open": "Pause", approval_required: "Question", approval_decided: "Decision", preflight_result: "Check", "plans-generated": "Plans", "plan-selected": "Plan", "plan-failed": "Plan", plan: "Plan", error: "Error", "error-escalation": "Help", validation_failed: "Check", reasoning: "Reasoning", "reasoning-end": "Reasoning", "system-prompt": "Prompt", mode_switch: "Mode", "phase-transition": "Phase", finish: "End" },
  export: "Export as JSON",
  exported: "The log was saved as a file",
  copy: "Copy JSON",
  noEntries: "What the assistant does is listed here: messages, calls, decisions, plans and problems.",
  noMatch: "Nothing matches.",
  titles: {
    mode_switch: (e) => words.modes[e.to]?.[0] ?? e.to,
    "plans-generated": (e) => `${e.count} plans`,
    "plan-selected": (e) => e.plan?.name,
    "plan-failed": (e) => `${e.plan}: ${e.error}`,
    plan: (e) => `${e.title}: ${e.done} of ${e.steps?.length} steps`,
    preflight_result: (e) => (e.valid ? "The plan can be carried out" : e.issues?.join(" ")),
    approval_required: (e) => `Waits for a decision: ${e.toolName}`,
    approval_decided: (e) => `${texts.decided[e.decision] ?? e.decision}${e.by ? ` by ${e.by}` : ""}`,
    "error-escalation": (e) => e.reason,
    "tool-call": (e) => `${naming.tool(e.toolName)} ${object(JSON.stringify(e.input ?? ""))}`,
    "tool-input-available": (e) => words.titles["tool-call"](e),
    "tool-result": (e) => naming.tool(e.toolName),
    "tool-retry": (e) => `${e.tool} is tried again${e.error ? `: ${e.error}` : ""}`,
    "tool-fallback": (e) => `${e.fallbackTool} instead of ${e.originalTool}`,
    "breaker-open": (e) => `${e.tool} is out of service for ${e.seconds} s`,
    "phase-transition": (e) => `${humanized(e.to)}${e.reason ? `: ${e.reason}` : ""}`,
    finish: (e) => `${texts.status[e.status] ?? e.status}${e.durationMs ? ` in ${duration(e.durationMs)}` : ""}${e.usage ? `, ${count(e.usage.input + e.usage.output)} tokens` : ""}`,
  },
};
