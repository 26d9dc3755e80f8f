// Package serve serves an agent over HTTP: to stock clients of the AI SDK (useChat) and of AG-UI,
// to pages of the host's own, and with a page of its own. It is a thin layer over package
// agent/live: runs outlive the requests that start them, and any number of readers may come and go.
//
//	hub, err := live.New(live.Config{Agent: a})
//	…
//	chat, err := serve.New(hub, serve.Config{
//		Authorize: func(r *http.Request, session string, action serve.Action) (user string, err error) {
//			name, ok := userOf(r)
//			if !ok {
//				return "", serve.ErrSignIn
//			}
//			return name, nil
//		},
//	})
//	…
//	http.Handle("/agent/", http.StripPrefix("/agent", chat))
//
// # Paths
//
// All of them are below the path at which the handler is mounted. Except for chat, which useChat
// prescribes, sessions and ids are in the query or in the body: they may contain any character, and
// proxies rewrite paths.
//
//	POST   chat                       a message, decisions or results of useChat: a stream of chunks
//	GET    chat/{session}/stream      the message in progress from its beginning, for useChat's resume;
//	                                  204 if there is none
//	POST   chat/{session}/stop        cancel the run
//	GET    chat/{session}/messages    the conversation as useChat keeps it, for its option "messages"
//	POST   agui                       a run of AG-UI: a stream of its events
//	POST   agui/connect               the same, but nothing is sent, answered or started: all messages that
//	                                  there are, and what follows; of a thread without messages: none
//	GET    agui/messages?thread=      {"messages","interrupts","pendingToolCallIds","running","error"}: a
//	                                  thread as a client of AG-UI keeps it; the error is that of its last run
//	POST   agui/cancel                {"thread"}: cancel the run
//	GET    events?session=&after=     Pawl's own events as server-sent events; the id is the fact's number;
//	                                  an after beyond the newest fact is malformed
//	GET    view?session=&after=       what the page shows, as server-sent events: the newest 200 items
//	                                  at first
//	GET    view/older?session=&before= 200 items before those
//	GET    config                     what the page needs to know of this server
//	GET    sessions?limit=&after=     the user's sessions, the most recently changed first
//	GET    sessions/messages?session= the conversation as Pawl's messages
//	GET    sessions/pending?session=  the pauses that wait for a decision
//	GET    sessions/rules?session=    standing approvals; DELETE with &tool= revokes one
//	POST   sessions/send              {"session","text","files","mode","key","supersede","replaces"}:
//	                                  start a run, or steer the one in progress, which reads it later;
//	                                  "replaces" is the number of the fact that started an earlier
//	                                  run, which this one replaces with all after it
//	POST   sessions/decide            {"session","decisions":[{"id","decision","reason","input","value","scope"}]}
//	POST   sessions/stop, cancel      {"session"}: stop the run at its next safe point, or at once
//	POST   sessions/pause, continue   {"session"}
//	POST   sessions/mode              {"session","mode"}
//	POST   sessions/title             {"session","title"}
//	POST   sessions/fork              {"session","at"}
//	GET    sessions/undo?session=&run= what an undo of a run would undo, and what stays and why; no
//	                                  run: the newest
//	POST   sessions/undo              {"session","run"}: undo it; the answer has the same form
//	DELETE sessions?session=
//	GET    /                          the page
//
// The handler of [Approvals] is another one, which needs no hub: it has what waits for people in
// all sessions of a store. Its paths, below the path at which it is mounted:
//
//	GET    /                          the open items: ?prefix= ?kind= ?tool= ?for= ?before= ?after= ?limit=
//	GET    item?session=&id=          one item in full; with the end of the conversation: &messages=5
//	POST   decide                     {"session","id","decision","reason","input","value","scope"}
//
// A decision is approve, reject (reason), edit (input), suggest (reason: what to do instead),
// answer (value) or always (scope: one of the pause's scopes, else the session).
//
// # Guarantees
//
//   - Nothing is served without Config.Authorize. A session belongs to who used it first; nobody
//     else learns that it exists, unless Config.Widen admits them. Lists show only one's own
//     sessions. Who decides is the user of Authorize.
//   - 404 is for what isn't there, or isn't the user's. An error of the store, and of a function of
//     the host that can't tell now who may do what, is 500 or 503, and permits nothing.
//   - Of a client's messages only the newest text and files, the ids and kinds of decisions, and
//     the results of tools that the server declared for the front end are used. History, system
//     texts, tools, labels and modes are the server's.
//   - A client that disconnects doesn't stop a run, unless Config.StopOnDisconnect says so. The paths
//     for that do.
//   - A request that stops a run is answered with 204 if the run has stopped or none was in progress,
//     and with 202 and {"stopping": true} if it will: at its next safe point, or in another process,
//     within a second. Which process gets a request makes no difference.
//   - The text of a model call in progress comes from the hub that drives the run. Requests for
//     streams that reach another process are passed on to it if the hubs have addresses
//     ([live.Config.Address]); else their readers get the facts alone until the run has ended.
//   - A repeated request starts nothing twice, and a repeated decision changes nothing: the answer
//     is the stream of the same run.
//   - Requests of pages of other sites that would change something are rejected, as are bodies
//     above Config.MaxBody, that haven't come within 30 s, or with more than 1,000 decisions.
//   - A user has at most Config.MaxReaders streams of events open.
//   - A message of useChat or AG-UI replaces whatever the session has after the message that it
//     follows: see agent.Input.Replaces. So an edited message and a request for another answer go
//     back in the session.
//   - When the hub closes, streams end, and new requests get 503 with Retry-After. The paths events
//     and view end with an event of the type "hint", useChat's with the data part "data-reconnect"
//     and without a finish, and AG-UI's with a RUN_ERROR of the code "unavailable".
//
// [Approvals] has the same guarantees, with its own Authorize: it is asked about every item that is
// shown and every decision that is recorded, and names the person who decided. An item that the
// user may not see is answered like one that doesn't exist. The first decision on an item counts.
//
// An error is application/problem+json (RFC 9457) with the members code (see the Code constants),
// class (see package fault) and trace, with which the server's log names it. On the paths of
// useChat it is a sentence for people, because stock clients show the answer as it is; the code and
// the trace are in the headers Pawl-Code and Pawl-Trace. A client of AG-UI that accepts
// text/event-stream gets a RUN_ERROR with such a sentence and the code, unless it has to sign in or
// find another session (401, 404), or its request is malformed.
//
// The handler starts no goroutine that outlives a request, except to notice the end of a run that
// counts towards an allowance, and to stop a run that nobody reads. Set
// http.Server.ReadHeaderTimeout; a ReadTimeout and a WriteTimeout aren't needed, because a body has
// 30 s to come and each write to a stream has a deadline of its own. A middleware's ResponseWriter
// needs the method Unwrap for that: see [http.ResponseController].
//
// # Where things are
//
// config.go has the configuration and what is mounted where, access.go who may do what, problem.go
// errors, body.go and files.go what comes in, and streaming.go what goes out. send.go starts runs
// and decide.go takes decisions, for all protocols. sessions.go, undo.go, events.go and view.go are
// Pawl's own protocol, approvals.go and inbox.go that of approvals across sessions. The files whose
// names begin with chat are that of useChat, and those with agui AG-UI. replaced.go leaves out runs
// that were replaced.
package serve
