// Package approvals shows people what agents wait for, and takes their decisions: a list of what is open across sessions, what
// somebody needs to know to decide on an item, and an [http.Handler] for both, which also ends standing approvals.
//
// Nothing here runs a tool. A decision is posted to the session's journal, as by [agent.Session.Decide], and takes effect when
// the session is resumed, in this process or in another. [agent.Agent.Recover] resumes what was decided:
//
//	decided := make(chan struct{}, 1)
//	h, err := approvals.New(approvals.Config{
//		Store:  store, // the journal of the agents
//		Agents: map[string]*agent.Agent{"cms": cms},
//		Authorize: func(r *http.Request, item approvals.Item, act approvals.Act) (who string, err error) {
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
//		case <-time.After(time.Minute): // for pauses that expire, and for processes that died
//		case <-ctx.Done():
//		}
//	}
//
// # Paths
//
// Sessions and ids are given in the query or the body, never in the path: they may hold any character, and what stands
// between a browser and this handler rewrites paths.
//
//	GET    /                            what is open: ?prefix= ?kind= ?tool= ?before= ?after= ?limit=
//	GET    /item?session=…&id=…         one item, whole; with the conversation's end: ?messages=5
//	POST   /decide                      {"session","id","decision","reason","input","value"}
//	GET    /rules?session=…             standing approvals of a session
//	DELETE /rules?session=…&tool=…      end one
//
// A decision is approve, reject (reason), edit (input), suggest (reason: what to do instead), answer (value) or always.
// An error is {"error":{"code","message"}}: see the Code constants.
//
// # Guarantees
//
//   - There is no handler without Config.Authorize, which is asked about every item that is shown and every decision that is
//     taken. An item that it doesn't show is answered like one that doesn't exist. It names who decided; the request doesn't.
//   - A request gives the id and the decision, nothing else: what runs is the call as it was stored. A decision with a field
//     that isn't its own, an input with an approval for example, is refused.
//   - The first decision on an item counts, whichever process takes it; every other one gets an error. An item that has
//     expired can't be decided.
//   - Requests from pages of other sites are refused, as are bodies that aren't strict JSON: duplicate or unknown keys, text
//     after the value, more than 64 KiB.
//
// The handler keeps no state and starts no goroutine. It reads a session's log once for each request about an item, so put it
// behind middleware that authenticates and limits requests. Set read timeouts on the server (http.Server.ReadTimeout).
package approvals
