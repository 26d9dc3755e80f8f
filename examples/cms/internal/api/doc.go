// Package api serves a site over HTTP: its contents, definitions, media, menus and locales, a
// search, and the sessions of the agent. The rules are those of package site, so a route and a tool
// accept and refuse the same.
//
//	handler, err := api.New(api.Config{Site: s, Hub: hub})
//	if err != nil {
//		return err
//	}
//	http.ListenAndServe("localhost:8787", handler)
//
// # Requests and answers
//
// A body is JSON or a form (application/x-www-form-urlencoded; a value that isn't text is JSON). A
// form may name another method in its field _method. An answer is {"data", "message",
// "statusCode"}, and an error is {"error": {"code", "message", "details"}, "statusCode"}; the
// status of the answer is the same. The message of an error says what was wrong and what would be
// right, and details have a message for each wrong field, or what a conflict is between.
//
// Contents are below /v1/teams/{team}/sites/{site}/environments/{env}. A file has one site, so any
// names of the three mean it.
//
// # Safety
//
// There is no login: listen on the loopback interface only. Requests of pages of other origins than
// Config.Origins that would change something are refused, and so are all requests whose Host is
// neither this computer nor listed. A body has at most 2 MiB, an uploaded file 16 MiB.
//
// # Where things are
//
// content.go and sessions.go have the routes and what they do, routes.go how a function becomes
// one, call.go decodes requests, answer.go has the envelope and the errors, and guard.go the checks
// of origins.
package api
