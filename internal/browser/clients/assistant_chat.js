// A page of assistant-ui with its runtime for the AI SDK, in React's test renderer. It does with assistant-ui's thread what usechat_node.js does with a chat.
import React from "react";
import { create } from "react-test-renderer";
import { useChat } from "@ai-sdk/react";
import { AssistantRuntimeProvider, getExternalStoreMessages } from "@assistant-ui/react";
import { useAISDKChat, useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { stop } from "./usechat.js";

const text = (value) => ({ role: "user", content: [{ type: "text", text: value }] });

export class Chat {
  constructor({ server, ...options }) {
    const page = this;
    this.rendered = new Promise((done) => {
      function Raw() {
        page.raw = useAISDKChat();
        React.useEffect(done, []);
        return null;
      }
      function Page() {
        page.hook = useChat(options);
        page.runtime = useAISDKRuntime({ ...page.hook, stop: () => stop(server, options.id) }, { cancelPendingToolCallsOnSend: false });
        return React.createElement(AssistantRuntimeProvider, { runtime: page.runtime }, React.createElement(Raw));
      }
      this.root = create(React.createElement(Page), { isConcurrent: true });
    });
  }

  get thread() { return this.runtime?.thread.getState(); }

  // messages are those that the thread shows.
  get messages() { return this.thread?.messages.flatMap((m) => getExternalStoreMessages(m)) ?? []; }

  set messages(all) { this.hook.setMessages(all); }

  get error() {
    const last = this.thread?.messages.at(-1)?.status;
    return last?.reason === "error" ? { message: last.error?.message ?? String(last.error) } : undefined;
  }

  get status() {
    if (this.thread?.isRunning) return "streaming";
    return this.error ? "error" : "ready";
  }

  // hidden returns the texts and outputs of the messages which the thread's parts don't have.
  hidden() {
    const shown = new Set(this.thread.messages.flatMap((m) => m.content.map((p) => JSON.stringify(p.type === "tool-call" ? p.result : p.text))));
    return this.messages.flatMap((m) => m.parts).map((p) => JSON.stringify(p.type.startsWith("tool-") ? p.output : p.text)).filter((p) => p && !shown.has(p));
  }

  async resumeStream() {
    await this.rendered;
    await this.hook.resumeStream();
  }

  async sendMessage(message, { body } = {}) {
    if (!message) return this.raw.sendMessage(undefined, { body }); // what no part of assistant-ui does
    const { messages } = this.thread;
    const i = messages.findIndex((m) => m.id === message.messageId);
    this.runtime.thread.append(i < 0 ? text(message.text) : { ...text(message.text), parentId: messages[i - 1]?.id ?? null, sourceId: message.messageId });
  }

  // part returns a call of the thread.
  part(holds) {
    for (const m of this.thread.messages.toReversed()) {
      const call = m.content.find((p) => p.type === "tool-call" && holds(p));
      if (call) return this.runtime.thread.getMessageById(m.id).getMessagePartByToolCallId(call.toolCallId);
    }
    throw new Error("there is no such call");
  }

  async addToolApprovalResponse({ id, approved }) { await this.part((p) => p.approval?.id === id).respondToToolApproval({ approved }); }

  addToolOutput({ toolCallId, output, state, errorText }) {
    const isError = state === "output-error";
    this.part((p) => p.toolCallId === toolCallId).addToolResult(isError ? { result: errorText, isError, [Symbol.for("aui.tool-response")]: true } : output);
  }

  regenerate({ messageId }) { this.runtime.thread.getMessageById(messageId ?? this.thread.messages.at(-1).id).reload(); }

  cancel() { this.runtime.thread.cancelRun(); }

  async stop() {
    await this.hook.stop();
    this.root.unmount();
  }
}
