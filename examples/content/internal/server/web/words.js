// All words of the pages, besides those of the chat, of which some are changed here.

import { duration, naming } from "/agent/page/format.js";
import { texts } from "/agent/page/texts.js";

export const words = {
  brand: "Content agent", lead: "From an idea to an illustrated article.", who: "Who are you?", noPasswords: "This is an example: there are no passwords.",
  expired: "Your login has ended. Log in again to go on where you were.",
  nav: { dashboard: "Dashboard", portfolio: "Portfolio", admin: "Admin" },
  logOut: "Log out", assistant: "Assistant", waits: "Assistant: waits for you", works: "Assistant: working", closeAssistant: "Close the assistant",
  thisPage: "This page", tabs: "Page or assistant", width: "Width of the assistant", working: "Working",
  busy: "The assistant is at work. Wait for the end, or stop it.",
  standin: { name: "A stand-in writes", title: "A stand-in writes, not a real model", text: ["It is a script, needs no key and costs nothing. It has six well-written texts, adapts one of them to your topic, and says where its sources are made up. In the chat it knows some twenty requests, which “help” lists.", "For a real model, whose provider bills what it writes, end the program and start it with a key and the name of a model:"], command: "ANTHROPIC_API_KEY=… ANTHROPIC_MODEL=… \\\n  go run ./examples/content", more: "OpenAI, Gemini, OpenRouter, Ollama and others work the same way: see “Settings” in the README." },
  standinEmpty: "A script answers, not a model: it knows some twenty requests, and “help” lists them.",
  realTitle: (name) => `${name} writes`, realText: "All texts and answers come from this model. If several are named, the next one is asked when one fails.",
  status: { draft: "Draft", research: "Researched", skeleton: "Outlined", writing: "Writing", creating_visuals: "Written", ready: "Ready", published: "Published", archived: "Archived" },
  next: { draft: "Nothing is written yet", research: "The research is done. Next: the outline", skeleton: "The outline is there. Next: the text", writing: "The text is being written", creating_visuals: "The text is there. Next: the images", ready: "Read it through, then publish it" },
  type: { blog: "Blog post", social_post: "Social post", showcase: "Showcase" },
  tones: ["professional", "formal", "casual", "conversational", "technical", "friendly", "authoritative", "humorous"],
  plan: { free: "Free plan", pro: "Pro plan", enterprise: "Enterprise plan" },
  limits: { 60: "Messages this minute", 3600: "Messages this hour", day: "Articles and steps today", concurrent: "Articles at the same time", tokens: "Tokens this month" },
  left: (n, all) => `${n} of ${all} left`,
  tools: { // while it works, a hint, and when it is done; without that, the answer says it
    topicResearch: ["Researching", "Asks several sources at once and keeps the best 20 findings", "Researched"],
    skeletonCreator: ["Creating the structure", "Headings, and places for images", "Outlined"],
    contentWriter: ["Writing the content", "One section after the other", "Wrote the text"],
    humanizer: ["Making it sound human", "Checks for 24 patterns of machine-made text", "Revised the text"],
    visualsCreator: ["Creating the images", "One for each place in the text", "Made the images"],
    proposeEdit: ["Proposing a change", "Nothing changes until you accept it"],
    topicsResearch: ["Looking for topics", "", "Looked for topics"], fetchArtifact: ["Reading the text", "", "Read the text"], fetchResearch: ["Reading the research", "", "Read the research"],
    fetchArtifactTopics: ["Looking at your portfolio", "", "Looked at your portfolio"], listDraftArtifacts: ["Looking for your drafts", "", "Looked for your drafts"], structuredResponse: ["Answering"],
    runSteps: ["Working on it"], continueWork: ["Continuing"], stopWork: ["Stopping"], createDraft: ["Creating a draft"], renameArtifact: ["Renaming it"],
    setTone: ["Changing the tone"], publish: ["Publishing"], archive: ["Archiving"], setTags: ["Changing the tags"], reopen: ["Taking it back"],
  },
  results: { topicResearch: "the research", skeletonCreator: "the outline", contentWriter: "the text", humanizer: "the revision", visualsCreator: "the images" },
  source: { reddit: "Reddit", linkedin: "LinkedIn", quora: "Quora", medium: "Medium", substack: "Substack", user_provided: "Yours", web: "Web", made_up: "Made up" },
  errors: {
    TOOL_EXECUTION_FAILED: "That didn’t work", TOOL_TIMEOUT: "That took too long", AI_PROVIDER_ERROR: "The AI service can’t be used",
    AI_RATE_LIMIT: "The AI service is busy", AI_CONTENT_FILTER: "The AI service refused this", ARTIFACT_NOT_FOUND: "There is no such article", RESEARCH_NOT_FOUND: "There is no research yet", INVALID_STATUS: "Not possible now", MISSING_CONTEXT: "Something is missing", INVALID_INPUT: "This isn’t possible", CONFLICT: "Somebody else is working on it", UNAUTHORIZED: "No access", RATE_LIMIT_EXCEEDED: "Limit reached", NETWORK: "No connection",
  },
  fillIn: "Put this into the message", sendIt: "Send this request",
  whatNow: "What would you like to do?", again: "Try again", tryIn: (s) => `Try again in ${duration(1000 * s)}.`, reference: "Reference",
  network: "The server can’t be reached. Work that has begun goes on there.", toPortfolio: "Go to the portfolio", saved: "Saved",
  newDraft: { open: "New draft", title: "New draft", name: "Title", hint: "What the text is about. It is also the topic of the research.", type: "Type", tone: "Tone", create: "Create draft", cancel: "Cancel" },
  ideas: "Give me topic ideas for LinkedIn",
  examples: ["Write a blog post about remote teams", "Give me topic ideas for LinkedIn", "Create a draft about slow hiring"],
  dashboard: {
    hello: (name) => `Hello, ${name}`, numbers: ["Drafts", "In progress", "Ready", "Published"],
    next: "Next for you", nothing: "Nothing waits for you. Begin with a draft, or ask for ideas.", decide: "The assistant waits for your decision", open: "Look at it",
    ideas: "Ideas", ideasText: "Drafts that nobody has written yet. The assistant finds topics that fit what you have.", find: "Find topics",
    recent: "Recently changed", about: "About you", aboutText: "Every text and every topic is made with this in mind.", save: "Save",
    parts: [["bio", "Bio"], ["expertiseAreas", "Expertise"], ["targetAudience", "Audience"], ["painPoints", "Their problems"], ["contentGoals", "Goals"]],
    none: "Nothing here yet. Begin with a draft, or let the assistant do it:",
  },
  portfolio: {
    search: "Search titles", status: "Status", type: "Type", sort: "Order", all: "All statuses", anyType: "All types",
    sorts: { changed: "Last changed", created: "Newest", title: "Title" }, none: "No article matches. Change the filters, or", reset: "show all",
    archived: (n) => `Archived (${n})`, found: (n) => (n === 1 ? "1 article" : `${n} articles`),
  },
  topic: { interest: (percent, rivals) => `Interest ${percent} % · competition ${rivals}`, angle: (a) => `Angle: ${a}`, create: "Create draft", open: "Open" },
  answer: {
    look: "Look at the change", sources: (n) => (n === 1 ? "1 source. It is beside the text." : `${n} sources. They are beside the text.`),
    stopped: "Stopped", resume: "Continue", resumeText: (title) => `Continue with “${title}”`, done: "done", notDone: "not done", failed: "Failed", denied: "Not done",
  },
  admin: {
    lead: "The last 24 hours. Users are shown by hashes.", refresh: "Refresh", numbers: ["Articles that succeeded", "In progress", "Average time", "Active users"],
    latency: "Calls by latency and hour", latencies: ["under 0.1 s", "under 1 s", "under 10 s", "under 1 min", "longer"], latencyHead: "Latency", failedRow: "failed",
    tools: "Steps", toolHead: ["Step", "Calls", "Failed", "p50", "p95", "p99"], noTools: "No step was run.", tokens: "Tokens this month", errors: "Errors", noErrors: "There were no errors.",
    traces: "Traces", noTraces: "There are no traces yet.", noMatch: "No trace matches.", head: ["Trace", "When", "User", "Steps", "Time"],
    time: "Time", times: { 1: "Last hour", 24: "Last 24 hours", 168: "Last 7 days" }, user: "User hash", state: "Status", states: { "": "All", ok: "Succeeded", error: "Failed" }, tool: "Step", anyTool: "All steps",
    noAlerts: "No alerts", since: (t) => `Since ${t}`, until: (t) => `Until ${t}`, past: (n) => (n === 1 ? "1 past alert" : `${n} past alerts`), severity: { critical: "critical", high: "high", warning: "warning" },
    trace: "Trace", gone: "There is no such trace, or it is more than 7 days old.", close: "Close the trace", copy: "Copy JSON", copied: "Copied", more: (n) => `${n} more`,
  },
};

// The words of the chat where these pages know better ones.
Object.assign(texts, {
  newChat: "New conversation", untitled: "New conversation", chats: "Conversations", searchChats: "Search conversations", noChats: "Your conversations will be listed here.", noMatch: "No conversation matches.", menu: "Show conversations", hideMenu: "Hide conversations",
  emptyTitle: "What shall we write?", emptyText: "I find topics, research, outline, write, revise and illustrate. I know which page you look at, and ask before anything is lost or published.",
  write: "Ask about ideas, texts, images", thinking: "Thinking", failedTitle: "This conversation can’t be shown",
});
Object.assign(texts.ask, { edit: "", suggest: "", withReason: "", approve: "Yes, do it", reject: "No", why: "What changes", high: "Can’t be taken back", medium: "", low: "", noUndo: "", preview: "What changes" });
Object.assign(texts.decided, { approve: "You agreed", reject: "You said no" });
texts.decidedBy = (what) => what; // nobody else decides here
texts.problem.allowance = "You have reached the limit of messages for now.";
texts.runningCalls = () => ""; // its line says it
texts.keys.splice(0, 1, ["/", "Search"]);

export const statusName = (s) => words.status[s] ?? s;
export const toolName = (t) => words.tools[t]?.[0] ?? t;
naming.tool = toolName;

// named returns a message of a button without the id of the article that it is about.
export const named = (text) => text.replace(/ ?\(artifact [0-9a-f-]{36}\)/g, "").replace(/\bartifact [0-9a-f]{8}-[0-9a-f-]*…?(?:: (.+))?$/, (_, title) => (title ? `“${title}”` : "an article"));

// plain replaces the names of tools in a text of the server by words.
export const plain = (text) => String(text).replace(new RegExp(`\\b(?:${Object.keys(words.tools).filter((t) => /[A-Z]/.test(t)).join("|")}|humanizer)\\b`, "g"), (name, at) => (at === 0 ? toolName(name) : toolName(name).toLowerCase()));
