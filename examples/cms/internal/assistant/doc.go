// Package assistant is the assistant of the CMS for people and programs: its page, its HTTP routes,
// and the log of a session.
//
//	hub, err := live.New(live.Config{Agent: a})
//	…
//	h, err := assistant.New(assistant.Config{Hub: hub, Preview: "http://localhost:4000"})
//	…
//	http.Handle("/", h)
//
// # Paths
//
//	GET  /assistant/             the page; what it needs is below this path (package agent/serve)
//	GET  /assistant/log?session= the events of a session that matter, for the tab Log of the page
//	POST /v1/agent/stream        start a run with a message, and stream its events; cmsTarget says
//	                             what is on the screen (see Screen)
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
// assistant.go has the configuration and what errors look like, routes.go serves the paths,
// event.go turns what the agent records into the events of the API, and work.go derives from it
// how the work goes: phases, failures in a row, what a person has to be told. Nothing of that is
// kept, so a stream that begins later says the same. context.go has what a model knows without a
// look-up, such as the page on the screen. after.go carries out a call that waits on a
// copy of the site, and page.go serves the page. In web, main.js puts the page together: site.js
// is the list, preview.js the frame with the site, plans.js the plans, answers.js what follows an
// answer, uploads.js the files, and log.js the log; words.js has all texts. Everything else of the
// page is the chat page of package agent/serve/page.
package assistant
