// A page with useChat as its documentation shows it. The address of the page says how:
//
//	api      where it posts
//	id       the chat
//	resume   "true": it looks for a stream in progress when it loads
//	history  from where it reads the messages so far, if at all
//
// The tests read window.chat: {status, error, messages}.
import { createElement as h, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { useChat } from "@ai-sdk/react";
import { options, stop } from "./usechat.js";

const query = new URLSearchParams(location.search);

function Part({ part, answer, output, decide }) {
  switch (part.type) {
    case "text":
      return h("p", { className: "text" }, part.text);
    case "reasoning":
      return h("details", null, h("summary", null, "Reasoning"), part.text);
    case "step-start":
      return null;
  }
  if (part.type.startsWith("data-")) return h("pre", { className: part.type }, JSON.stringify(part.data));
  const id = part.input?.page ?? "tool"; // for the tests: what the call is about
  const waits = part.state === "approval-requested";
  return h("section", { className: "call", "data-state": part.state },
    h("b", null, part.toolName ?? part.type), " ", part.state, " ", JSON.stringify(part.input ?? null), " ", JSON.stringify(part.output ?? part.errorText ?? null),
    waits && h("button", { id: `approve-${id}`, onClick: () => answer({ id: part.approval.id, approved: true }) }, "Approve"),
    waits && h("button", { id: `deny-${id}`, onClick: () => answer({ id: part.approval.id, approved: false, reason: "Not now." }) }, "Deny"),
    waits && h("button", { id: `edit-${id}`, onClick: () => decide({ id: part.approval.id, decision: "edit", input: { ...part.input, page: `${id}2` } }) }, "Edit"),
    part.state === "input-available" && part.type === "tool-choose" &&
      h("button", { id: `choose-${id}`, onClick: () => output({ tool: "choose", toolCallId: part.toolCallId, output: { color: "blue" } }) }, "Blue"));
}

function Chat({ messages: initial }) {
  const latest = useRef();
  const api = query.get("api"), id = query.get("id");
  const chat = useChat({ ...options({ api, id, messages: initial, chat: () => latest.current }), resume: query.get("resume") === "true" });
  latest.current = chat;
  const [input, setInput] = useState("");
  const decide = (decision) => chat.sendMessage(undefined, { body: { decisions: [decision] } }); // what useChat has no words for
  window.chat = { status: chat.status, error: chat.error?.message ?? "", messages: chat.messages };
  return h("main", null,
    chat.messages.map((m) =>
      h("article", { key: m.id, "data-role": m.role, "data-id": m.id },
        m.parts.map((part, i) => h(Part, { key: i, part, answer: chat.addToolApprovalResponse, output: chat.addToolOutput, decide })))),
    h("p", { id: "status" }, chat.status),
    chat.error && h("p", { id: "error", role: "alert" }, chat.error.message),
    h("form", { onSubmit: (e) => { e.preventDefault(); chat.sendMessage({ text: input }); setInput(""); } },
      h("input", { id: "input", "aria-label": "Message", value: input, onChange: (e) => setInput(e.target.value) }),
      h("button", { id: "send" }, "Send"),
      h("button", { id: "stop", type: "button", onClick: () => stop(api, id) }, "Stop")));
}

const history = query.get("history");
const answer = history && (await fetch(history)); // 404: a new chat
const messages = answer?.ok ? (await answer.json()).messages : [];
createRoot(document.getElementById("root")).render(h(Chat, { messages }));
