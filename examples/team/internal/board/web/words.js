// All words of the board, and where this page knows better ones than the chat.

import { count, duration, humanized, naming } from "../page/format.js";
import { texts } from "../page/texts.js";

texts.emptyTitle = "A team that builds Go programs";
texts.emptyText = "Say what you need. The guide asks back, shows you a plan, and the team builds it once you have approved it.";
texts.ask.suggest = "Change";
texts.call.rejected = "Not carried out";
texts.runningCalls = () => "Working";
texts.openDecisions = "A decision is open. To a plan that waits, a message is a change; beside a plan at work, it is answered at once.";
texts.keys.push(["Alt + 1, 2", "Go to the chat, the plan"]);
texts.steer = "Ask something beside the plan";
texts.answerPaused = "Decide, or write a message";
texts.decided.suggest = "Change asked for";
texts.offline = "Connection lost, reconnecting. The team’s work goes on.";
texts.decisionFailed.unknown = "This isn’t asked any more. Look at the newest plan.";
texts.notice.mode = (name) => ({ plan: "The guide plans now", talk: "The guide talks with you again" })[name] ?? `Mode: ${name}`;
const tools = { __proto__: null, ask: "Ask you", "plan.submit": "Propose a plan", "plan.change": "Change the plan", "transfer.plan": "Begin to plan", "transfer.talk": "Back from planning", "team.start": "Start work beside", "work.status": "Look how far it is", "work.stop": "Stop the work", "work.undo": "Undo the work" };
naming.tool = (name) => tools[name] ?? humanized(name);

const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export const words = {
  areas: { chat: "Chat", board: "Plan" },
  areasLabel: "Areas",
  board: "Plan",
  waits: (n) => `${n} ${n === 1 ? "decision" : "decisions"}`,
  asked: (ask) => (ask.kind === "step" ? `“${ask.node}” ${ask.choices.includes("grant") ? "doesn’t pass its checks" : "has failed"}. What now?` : ""),
  seeBoard: "Decide in the plan",
  answerInChat: "Answer in the chat",

  dir: "Works in",
  golessHelp: "You can read what was done before.",
  nothing: "No plan yet",
  nothingText: "When the guide has understood what you need, its plan is shown here. Nothing is written before you have approved it.",
  roles: [
    ["guide", "Talks with you, and asks back"],
    ["librarian", "Reads the directory and the project’s rules"],
    ["tester", "Writes the tests first"],
    ["engineer", "Writes code, in a copy until its checks pass"],
    ["inspector", "Runs go vet and go test: a program, not a model"],
  ],

  who: (name) => ({ __proto__: null, guide: "Guide", librarian: "Librarian", tester: "Tester", engineer: "Engineer", inspector: "Inspector" })[name] ?? humanized(name),
  version: (n) => `Version ${n}`,
  status: {
    proposed: "Waits for your decision",
    approval: "Waits for your decision",
    changing: "The guide changes the plan",
    starting: "Starting",
    running: "At work",
    waiting: "Waits for your decision",
    undoing: "Being undone",
    undone: "Undone",
    completed: "Done",
    failed: "Failed",
    rejected: "Rejected",
    canceled: "Canceled",
  },
  progress: (done, total) => `${done} of ${plural(total, "step")}`,
  size: (steps, stages) => `${plural(steps, "step")} · ${plural(stages, "stage")}`,
  undone: "All files are as they were before this plan.",
  layer: (n, size) => (size > 1 ? `Stage ${n}, ${size} steps at the same time` : `Stage ${n}`),
  together: "at once",
  step: {
    pending: "To do",
    running: "At work",
    reviewing: "Being checked",
    asking: "Waits for you",
    waiting: "Waits for you",
    done: "Done",
    waived: "Accepted as it is",
    failed: "Failed",
    skipped: "Skipped",
    undone: "Undone",
  },
  stepNow: (work, word) => `${work}: ${word}`,
  round: (n, all) => `Round ${n} of ${all}`,
  changes: { added: "New", changed: "Changed", removed: "Removed" },
  since: (version, n) => `Since version ${version}: ${["added", "changed", "removed"].filter((k) => n[k]).map((k) => `${n[k]} ${{ added: "new", changed: "changed", removed: "removed" }[k]}`).join(", ") || "the steps are the same"}`,
  was: "Before",
  because: (id) => `Because ${id} isn’t done`,
  after: "Begins after",
  checks: "Checked by",
  noChecks: "No check",
  task: "Task",
  says: "Says",
  does: "Does",
  files: (n) => plural(n, "file"),
  lines: (added, removed) => `${count(added)} ${added === 1 ? "line" : "lines"} added, ${count(removed)} removed`,
  output: (name) => `Output of ${name}`,
  check: { passed: "Passed", failed: "Failed" },
  checkRun: (c) => `${c.command || c.name}`,
  named: (check) => ({ vet: "go vet", test: "go test" })[check] ?? check,
  took: (ns) => duration(ns / 1e6),
  noOutput: "No output",

  ask: {
    plan: "Carry out this plan?",
    planNote: "Approving runs exactly these steps. Nothing was written so far.",
    approve: "Approve",
    change: "Change",
    reject: "Reject",
    changeWhat: "What should change?",
    changeHint: "The guide reads it and proposes the next version. Nothing runs until you approve that one.",
    sendChange: "Ask for the change",
    cancel: "Cancel",
    once: "Once",
    // A text says all, as "all `go vet` here, in this session" does, or in older journals only where.
    always: (scope, where) => `Always allow ${scope && /^(in|on|at) /.test(where) ? `for ${scope} ` : ""}${where.replace(/in this session$/, "in this chat").replaceAll("`", "")}`,
    here: "in this chat",
    no: "No",
    command: "The step wants to run a command that the rules don’t name",
    effect: "The step asks for your permission",
    stuck: "This step doesn’t pass its checks",
    failed: "This step has failed",
    choices: { grant: "Another round", retry: "Try again", waive: "Accept as it is", skip: "Skip", "give up": "Give up", "send back": "Ask for another plan" },
    means: {
      grant: "The engineer reads what the checks said and tries once more.",
      retry: "It is done once more.",
      waive: "Its files are merged, although a check fails.",
      skip: "It is left out, with all that depends on it.",
      "give up": "The plan ends, and all files that it has written are undone.",
      "send back": "The guide proposes something else.",
    },
    refused: (why) => `The earlier decision could not be used: ${why}`,
    gone: "This was decided elsewhere, or the plan has a newer version.",
  },

  done: "Done",
  doneFiles: (n) => `${plural(n, "file")} written`,
  doneIn: "They are in",
  ran: "The program",
  agents: "Who did what",
  columns: ["Agent", "Model calls", "Tokens in", "Tokens out", "Time"],
  total: "Together",
  undo: {
    button: "Undo everything",
    title: "Undo everything?",
    text: (n) => `${n === 1 ? "This file goes" : `These ${n} files go`} back to what ${n === 1 ? "it was" : "they were"} before the plan. Files that the team has made are deleted.`,
    go: (n) => `Undo ${plural(n, "file")}`,
    keep: "Keep them",
    done: "Everything was undone",
  },

  beside: "Beside the plan",
  background: { running: "At work", paused: "Waits for you", completed: "Done", failed: "Failed", canceled: "Stopped" },
  report: (who) => (who === "guide" ? "Answer" : "Report"),
  besideBegun: "It is answered beside the plan",
  besideDone: (who) => `${words.who(who)}: done, beside the plan`,
  see: "See",

  grants: "Allowed in this project",
  noGrants: "Nothing is allowed in advance. You are asked before a command runs that the rules don’t name.",
  grant: (text) => text.replaceAll("`", "").replace(/ in this project$/, ""),
  grantBy: (who) => `by ${who}`,
  revoke: "Revoke",
  revokeWhat: (text) => `Revoke: ${text}`,
  revoked: "Revoked. You are asked the next time.",
};
