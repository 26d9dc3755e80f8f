// Package assistant is the assistant of the CMS: how the agent works beyond calling tools, its HTTP
// routes, and its page.
//
//	cfg.Hooks = assistant.Hooks(assistant.Behavior{Critic: model})
//	a, err := agent.New(cfg)
//	…
//	h, err := assistant.New(assistant.Config{Hub: hub, Preview: "http://localhost:4000"})
//	…
//	http.Handle("/", h)
//
// # Paths
//
//	GET  /assistant/             the page; what it needs is below this path (package agent/serve)
//	GET  /assistant/log?session= the events of a session, for the page
//	POST /v1/agent/stream        start a run with a message, and stream its events
//	GET  /v1/agent/stream        the events of a session, from Last-Event-ID on
//	POST /v1/agent/approve       decide on a call that waits
//	POST /v1/agent/resume        continue an interrupted session, and stream its events
//	POST /v1/agent/cancel        cancel the run in progress
//	POST /v1/agent/message       add a message to the run in progress
//	GET  /v1/agent/traces        the events of one trace
//
// The paths below /v1/agent are also below /api/agent. Errors are {"error": {"code", "message",
// "details"}, "statusCode"}.
//
// # Where things are
//
// behavior.go has the hooks, event.go turns what the agent records into the events of the API,
// stream.go and routes.go serve them, and page.go serves the page. In web, main.js puts the page
// together, log.js is the message history, dialogs.js the approvals, preview.js the frame with the
// site, plans.js the plan, and layout.js the areas. Everything else of the page is the chat page of
// package agent/serve/page.
package assistant
