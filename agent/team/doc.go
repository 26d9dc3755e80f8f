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
//   - While a conversation waits for a person, people are shown at once how work has ended: in a
//     fact of the kind [agent.NoticeKind], which the terminal, the page and editors show, once for
//     each piece of work. It doesn't touch what the conversation waits for.
//   - If work waits for a person, so does the conversation, as soon as it isn't in a run: a call of
//     team.status has the pauses, with their paths, and a decision there reaches the work. One piece
//     of work asks at a time, and once after each input. A message meanwhile is refused with a
//     *[agent.PausedError]; one with Input.Supersede leaves the work waiting, is answered, and then
//     the question is asked again. A decision that the call can't accept, such as an edited input
//     that its tool refuses, rejects the call. So does a question that nobody decides in time.
//   - Work is stopped when the run that has started it, or a later one of the conversation, is
//     stopped or canceled.
//   - Limits.Cost and Limits.Tokens of an input of the conversation hold for all that it starts: its
//     work, the runs that this is reported in, the work that those start, and so on. At a limit each
//     run stops before its next model call, and work that makes none is stopped within Config.Every.
//     The run of the next report stops at once, so that the conversation says why, and the other
//     reports wait until a person writes. That input has limits of its own.
//   - After Config.Rounds reports in a row, 10 by default, further ones wait until a person writes.
//     Nothing is lost, also over a restart.
//   - The tools reach only the work of their own conversation, and neither members nor subagents can
//     use them.
//   - Work that waits for its turn, for a person or for its report costs no goroutine. At most
//     Config.Parallel pieces of work are driven by one process, and those that a person has just
//     decided on.
//
// # What it doesn't do
//
// Members don't send each other messages, and nothing routes tasks or weighs how sure a member is:
// the lead's model chooses. A run's Result doesn't have what its background work has cost: each
// [Work] has its own. [live.Hub.Cancel] of an idle conversation stops nothing: [Team.Stop] stops
// its work. A question that is decided in the session of the work itself stays open in the
// conversation until somebody decides there, which changes nothing more, or writes. Undoing a
// conversation doesn't undo its work. Work of a conversation that isn't in the lead's journal is
// driven, but not reported.
//
// # Where things are
//
// team.go has the team and its work, tools.go the tools, run.go what [Team.Run] does, and
// transfer.go the hand-over.
package team
