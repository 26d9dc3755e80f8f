// Package approvals lists pending approvals across sessions and records decisions: it has a list of
// open items, the details that a person needs to decide on one, and an [http.Handler] for both,
// which can also revoke standing approvals.
//
// A question that isn't for people, such as one that another agent answers ([tools.Suspend].For),
// is listed only for those who ask for it by that name: see [Filter].
//
// Runs of plans (agent/plan) have their items in the list, too, if Config.Plans is set.
//
// The package runs no tools. A decision is posted to the session's journal, as by
// [agent.Session.Decide], and takes effect when the session is resumed, in this process or in
// another. [agent.Agent.Recover] resumes sessions that were decided:
//
//	decided := make(chan struct{}, 1)
//	h, err := approvals.New(approvals.Config{
//		Store:  store, // the journal of the agents
//		Agents: map[string]*agent.Agent{"cms": cms},
//		Authorize: func(r *http.Request, item approvals.Item, act approvals.Act) (user string, err error) {
//			user, ok := userOf(r)
//			if !ok || !strings.HasPrefix(item.Session, user.Tenant+"/") {
//				return "", errors.New("not theirs")
//			}
//			return user.Name, nil
//		},
//		OnDecided: func(context.Context, approvals.Decided) {
//			select {
//			case decided <- struct{}{}:
//			default: // the next Recover sees this decision, too
//			}
//		},
//	})
//	…
//	mux.Handle("/approvals/", http.StripPrefix("/approvals", h))
//	…
//	for ctx.Err() == nil { // in a goroutine of the host
//		if _, err := cms.Recover(ctx, agent.Recovery{}); err != nil {
//			log.Print(err)
//		}
//		select {
//		case <-decided:
//		case <-time.After(time.Minute): // for pauses that expire, and for sessions that other processes abandoned
//		case <-ctx.Done():
//		}
//	}
//
// # Paths
//
// Sessions and ids are given in the query or the body, never in the path: they may contain any
// character, and proxies between a browser and this handler rewrite paths.
//
//	GET    /                            the open items: ?prefix= ?kind= ?tool= ?for= ?before= ?after= ?limit=
//	GET    /item?session=…&id=…         one item in full; with the end of the conversation: ?messages=5
//	POST   /decide                      {"session","id","decision","reason","input","value","scope"}
//	GET    /rules?session=…             standing approvals of a session
//	DELETE /rules?session=…&tool=…      revoke one
//
// A decision is approve, reject (reason), edit (input), suggest (reason: what to do instead),
// answer (value) or always (scope: one of the pause's scopes, else the session). An error is
// {"error":{"code","message"}}: see the Code constants.
//
// A decision that was recorded may not fit when the run takes it, because the process that runs the
// session has another version of the tool, for example. The item is then open again under another
// id, with the same time to decide, and Pause.Refused says what was wrong with the decision. The
// old id has the state "replaced", and a decision on it gets the code "replaced", both with
// "new_id".
//
// # Guarantees
//
//   - Config.Authorize is required, and is called for every item that is shown and every decision
//     that is recorded. An item that the user may not see is answered like one that doesn't exist.
//     Authorize, not the request, names the person who decided.
//   - A request has only the id and the decision: what runs is the call as it was stored. A
//     decision with a field of another kind of decision, for example an approval with an input, is
//     rejected.
//   - The first decision on an item counts, in any process; every later one gets an error. An item
//     that has expired or was replaced can't be decided.
//   - Requests from pages of other sites are rejected, as are bodies that aren't strict JSON:
//     duplicate or unknown keys, text after the value, more than 64 KiB, or not here within 30 s.
//
// The handler keeps no state and starts no goroutine. It reads a session's log once for each
// request about an item, so put it behind middleware that authenticates and limits requests. Set
// http.Server.ReadHeaderTimeout. The time limit of bodies needs a ResponseWriter that can set a
// read deadline: that of a middleware needs the method Unwrap (see [http.ResponseController]).
package approvals
