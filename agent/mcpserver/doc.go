// Package mcpserver offers an agent as tools of an MCP server: ask, answer, status and cancel.
// Clients that can ask people get the agent's pauses as input requests; others get a result that
// names the pauses, and answer with the tool answer.
//
//	hub, err := live.New(live.Config{Agent: a})
//	…
//	h, err := mcpserver.New(hub, mcpserver.Config{
//		Description: "Edits the website.",
//		Authorize: func(ctx context.Context, h http.Header, session string) (user string, err error) { … },
//	})
//	…
//	http.Handle("/mcp", h)
//
// # Tools
//
//	ask     {"prompt", "session"}            starts a run, or sends the message to the run in progress
//	answer  {"session", "decisions": […]}    decides on pauses: {"id", "decision", "reason", "input",
//	                                         "value"} as agent/serve takes it
//	status  {"session"}                      how far the newest run is
//	cancel  {"session"}                      stops the run
//
// Each answers with {"session", "status", "text", "pending"}. ask and answer wait for the end of
// the run, or its pause, for Config.Wait at most; the run goes on without them, and status says
// what has become of it. A session belongs to who has used it first, and its name is chosen by the
// server if the client gives none.
//
// The handler keeps no state between requests, so any process can answer any of them. It speaks the
// protocol 2026-07-28 and older ones over streamable HTTP.
package mcpserver
