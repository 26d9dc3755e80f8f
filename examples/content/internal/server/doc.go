// Package server is the HTTP API of the content agent, with login, limits and checks of who owns
// what.
//
//	limits := server.NewLimits(nil)
//	s, err := assistant.New(assistant.Config{Model: limits.Model(model), Admit: limits.Admit, …})
//	…
//	h, err := server.New(ctx, server.Config{Services: s, Limits: limits})
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	http.Serve(listener, h)
//
// # Paths
//
//	GET    /api/users                             who can log in
//	POST   /api/login                             {"user"}: a token, also as a cookie
//	POST   /api/logout
//	GET    /api/me                                the user, what is left of the limits
//	GET    /api/user-context, PUT                 what texts are to know about the user
//	GET    /api/artifacts?status=                 the user's artifacts, without their contents
//	POST   /api/artifacts                         {"type","title","tone","tags","content"}: a draft
//	GET    /api/artifacts/{id}                    with the text as HTML and the newest pipeline
//	PATCH  /api/artifacts/{id}                    {"title","tone","tags","content","updatedAt","newVersion"};
//	                                              a published one becomes ready; 409 if it has changed
//	                                              since updatedAt
//	DELETE /api/artifacts/{id}
//	POST   /api/artifacts/{id}/publish, archive, edit
//	GET    /api/artifacts/{id}/research, history, versions, versions/{number}
//	POST   /api/artifacts/{id}/versions/{number}/restore
//	POST   /api/artifacts/{id}/proposals          {"instruction","section","selection","remove","again",
//	                                              "picture"}: a change to accept or reject
//	POST   /api/proposals/{id}/accept, reject
//	GET    /api/artifacts/{id}/markdown           the text as a file, its sources as footnotes
//	POST   /api/artifacts/{id}/preview            {"content"}: {"html"}
//	GET    /images/{id}
//	POST   /api/content-agent/execute             {"message","screenContext","sessionId"}: the answer,
//	                                              when all is done
//	POST   /api/content-agent/cancel              {"artifactId"}: ends the pipeline of an artifact
//	POST   /api/content-agent/reset               begins a new conversation: {"session"}
//	       /agent/                                package serve: the same conversations; the header
//	                                              X-Content-Screen has the path of the page
//	       /metrics, /admin/, /api/admin/         for administrators; from the Config. /metrics also
//	                                              takes a token of its own
//	       /                                      the pages; from the Config
//
// # Guarantees
//
//   - Without a token, there are only the pages, the users and the login. A token is signed, and
//     lasts 12 h, or until its user logs out.
//   - Everything is about what the user owns. An artifact of somebody else answers 404, as
//     one that doesn't exist does, whether its id is in the path, on the screen or in the message.
//   - A client that disconnects doesn't stop a pipeline. Cancel does, and Close leaves it to the
//     next process.
//   - Limits are exact: requests and pipelines of a user, and tokens in a month, also across
//     restarts.
//   - Requests of pages of other sites, and bodies above 512 KiB, are refused.
//   - Logs have hashed ids of users, and no texts apart from 100 characters of a message that was
//     refused.
package server
