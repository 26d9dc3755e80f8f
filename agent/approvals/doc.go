// Package approvals lists pending approvals across sessions and records decisions: it has a list of
// open items, the details that a person needs to decide on one, and an [Inbox] that takes the
// decision. serve.Approvals of package agent/serve offers the same over HTTP.
//
//	inbox := &approvals.Inbox{
//		Store:  store, // the journal of the agents
//		Agents: map[string]*agent.Agent{"cms": cms},
//	}
//	for open, err := range inbox.List(ctx, approvals.Filter{}) {
//		if err != nil {
//			return err
//		}
//		item, err := inbox.Find(ctx, open.Session, open.ID, 5) // with the end of the conversation
//		…
//		err = inbox.Decide(ctx, item, agent.Approve(open.ID).By("ann"))
//	}
//
// A question that isn't for people, such as one that another agent answers ([tools.Suspend].For),
// is listed only for those who ask for it by that name: see [Filter].
//
// Runs of plans (agent/plan) have their items in the list, too, if Inbox.Plans is set.
//
// The package runs no tools, and asks nobody who may decide. A decision is posted to the session's
// journal, as by [agent.Session.Decide], and takes effect when the session is resumed, in this
// process or in another. [agent.Agent.Recover] resumes sessions that were decided. The agents ask
// who may decide on calls of tools with Approvers ([tools.Spec]).
//
// An approver without an agent, behind a link in a mail, for example, is an Inbox without Agents:
// what it records is checked by the agent that takes it.
//
// # Guarantees
//
//   - What runs is the call as it was stored. A decision has only the id, its kind, and what that
//     kind takes.
//   - The first decision on an item counts, in any process; every later one gets an error. An item
//     that has expired or was replaced can't be decided.
//   - A decision that was recorded may not fit when the run takes it, because the process that runs
//     the session has another version of the tool, for example. The item is then open again under
//     another id, with the same time to decide, and Pause.Refused says what was wrong with the
//     decision. The old id has the state [StateReplaced], with Detail.NewID.
//   - A list reads no logs; [Find] reads that of one session.
package approvals
