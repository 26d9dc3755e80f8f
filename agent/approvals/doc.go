// Package approvals is where people decide on what agents wait for: a list of what is open across sessions, what one needs
// to know to decide on an item, and an [http.Handler] for both that takes decisions and ends standing approvals.
//
// Nothing here runs a tool. A decision goes to the session's journal with [agent.Agent.Decide]; it takes effect when somebody
// resumes the session, in whatever process: a [Resumer], for example, or [agent.Agent.Recover].
//
//	resumer := approvals.NewResumer(approvals.ResumerConfig{})
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
//		OnDecided: resumer.Decided,
//	})
//	…
//	mux.Handle("/approvals/", http.StripPrefix("/approvals", h))
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
// # What holds
//
//   - Config.Authorize is asked about every item that is shown and every decision that is taken, and there is no handler
//     without it. What it refuses to show is answered like what doesn't exist. Who decided is what it says, never what the
//     request says.
//   - From a request only the id and the decision are taken: what runs is the call as it was stored. A decision that
//     brings along what isn't its own, an input with an approval for example, is refused whole.
//   - The first decision on an item counts, whichever process takes it; every other is told. After its expiry an item can't
//     be decided.
//   - Requests that another site's page makes are refused, as are bodies that aren't JSON to the letter: doubled or unknown
//     keys, something behind the value, more than 64 KiB.
//
// The handler keeps no state and starts no goroutine. It reads a session's log once for each request about an item, so put it
// behind what authenticates and limits requests; read timeouts are the server's (http.Server.ReadTimeout).
package approvals
