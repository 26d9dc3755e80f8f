// Package team has agents work in the background for the conversations of another one, the lead,
// and hands conversations over between its modes.
//
//	background, err := team.New(team.Config{Members: map[string]team.Member{
//		"librarian": {Hub: librarian, About: "finds things in the files"},
//	}})
//	…
//	all := append(background.Tools(), team.Transfer(modes...)...)
//	a, err := agent.New(agent.Config{Provider: model, Tools: all, Modes: modes})
//	…
//	lead, err := live.New(live.Config{Agent: a})
//	…
//	err = background.Run(ctx, lead) // until ctx ends
//
// The lead's model starts work with the tool team.start and goes on at once. A piece of work is a
// session of the member's agent, whose parent is the conversation: lists don't show it, and it is
// deleted with the conversation. [Team.Run] drives it. When it has ended, a message in the
// conversation says how, with what the member has said, marked as data ([tools.Untrusted]).
// [Transfer] needs no Team.
//
// # Guarantees
//
//   - A call of team.start starts one piece of work, whatever process dies when, and the
//     conversation gets one report of it: in a run of its own, or in the run in progress before its
//     next step. A conversation that waits for a person gets it when that run has ended, and one
//     that was stopped gets it after the next input. A report that a run hasn't read is sent again.
//   - If work waits for a person, so does the conversation, as soon as it isn't in a run: a call of
//     team.status has the pauses, with their paths, and a decision there reaches the work. One piece
//     of work asks at a time, and once after each input: an input that supersedes the question
//     leaves the work waiting, and the question is asked again. A decision that the call can't
//     accept, such as an edited input that its tool refuses, rejects the call. So does a question
//     that nobody decides in time.
//   - Work is stopped when the run that has started it, or a later one of the conversation, is
//     stopped or canceled or reaches Limits.Cost; and when the newest run, together with the work
//     that is neither reported nor charged yet, has cost what its Limits.Cost says. This is checked
//     every Config.Every.
//   - What ended work has cost is charged once, to the run that next calls a tool of the team
//     ([agent.Book]).
//   - The tools reach only the work of their own conversation, and neither members nor subagents can
//     use them.
//   - Work that waits for its turn, for a person or for its report costs no goroutine. At most
//     Config.Parallel pieces of work are driven by one process, and those that a person has just
//     decided on.
//
// # What it doesn't do
//
// Members don't send each other messages, and nothing routes tasks or weighs how sure a member is:
// the lead's model chooses. Only its cost limits how much work a conversation starts. A
// conversation that is idle can't be stopped, so that its work goes on: [live.Hub.Cancel] of the
// member's hub stops the session of a [Work]. A question that is decided in the session of the work
// itself stays open in the conversation until somebody decides there, which changes nothing more,
// or writes. Undoing a conversation doesn't undo its work. Work of a conversation that isn't in the
// lead's journal is driven, but not reported.
//
// # Where things are
//
// team.go has the team and its work, tools.go the tools, run.go what [Team.Run] does, and
// transfer.go the hand-over.
package team
