import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";

// options returns options of useChat. chat returns what useChat has returned; wait is the time
// between two tries to connect again, in milliseconds.
export function options({ api, id, messages, chat, wait = 1000 }) {
  const load = async (replaces) => {
    const answer = await fetch(`${api}/${encodeURIComponent(id)}/messages`).catch(() => undefined);
    if (!answer?.ok) return false;
    const { messages: all } = await answer.json();
    chat().setMessages((now) => (replaces(all, now) ? all : now));
    return true;
  };
  const reconnect = async () => {
    do await new Promise((done) => setTimeout(done, wait));
    while (!(await load(() => true)));
    await chat().resumeStream();
    await load((all, now) => all.length > now.length); // the answer was completed in between
  };
  let lost = false, steered = false;
  return {
    id,
    messages,
    transport: new DefaultChatTransport({ api }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(state) || lastAssistantMessageIsCompleteWithToolCalls(state),
    onData: ({ type, data }) => {
      if (type === "data-reconnect") reconnect();
      if (type === "data-steered") steered = true; // by this page, or by another one
      if (type === "data-superseded") chat().setMessages((all) => all.map((m) => closed(m, data.approvals)));
    },
    onError: (error) => { lost = error instanceof TypeError; }, // of fetch
    onFinish: ({ message, messages: all, isError }) => {
      if ((isError && lost && message.parts.length > 0) || (steered && all.at(-1).id === message.id)) reconnect();
      steered = false;
    },
  };
}

// stop stops the answer in progress; chat.stop() alone would only close the connection.
export const stop = (api, id) => fetch(`${api}/${encodeURIComponent(id)}/stop`, { method: "POST" });

// closed returns a message without open requests for approval that another message has superseded.
const closed = (message, approvals) => ({
  ...message,
  parts: message.parts.map((part) =>
    part.state === "approval-requested" && approvals.includes(part.approval.id)
      ? { ...part, state: "output-denied", approval: { ...part.approval, approved: false } }
      : part),
});
