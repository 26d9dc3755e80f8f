// The facts of a run in words. The server sends them as the journal has them.

const text = (message) => (message?.parts ?? []).filter((p) => p.kind === "text").map((p) => p.text).join(" ");

const said = {
  run_started: (d) => `Asked: ${text(d.message)}`,
  title_changed: (d) => `Title: ${d.title}`,
  continued: () => "A worker goes on",
  step_started: (d) => `Model call ${d.step}`,
  step_failed: (d) => `The model call failed: ${d.error}`,
  replied: (d) => {
    const calls = (d.message?.parts ?? []).filter((p) => p.kind === "tool_call");
    return calls.length ? `The model asks for ${calls.length > 1 ? `${calls.length} calls of ` : ""}${calls[0].call.name}` : `The model says: ${text(d.message)}`;
  },
  tool_started: (d) => `Started ${d.tool_call.name}`,
  tool_finished: (d) => `${d.tool_call.name}: ${d.result.status}${d.attempts > 1 ? ` at attempt ${d.attempts}` : ""}`,
  suspended: (d) => `${d.pause.kind === "in_doubt" ? "It isn’t known whether this has happened" : "Asks for approval"}: ${d.pause.title}`,
  decided: (d) => `Decided: ${d.decision.kind}`,
  delivered: () => "The end was delivered",
  run_ended: (d) => (d.reason ? `The run is ${d.status}: ${d.reason}` : `The run is ${d.status}`),
};

// describe says what a fact is about, in a line.
export function describe(fact) {
  try {
    return said[fact.kind]?.(fact.data) ?? fact.kind;
  } catch {
    return fact.kind; // one of a newer version
  }
}
