// Package transcripts shows what a run does, in scripts that are tests. It has no code but tests:
// read testdata, one behaviour a file, beginning with approve.txt. docs/guarantees.md says which
// scripts show which guarantee.
//
// # How to read a script
//
// A script begins with a comment that says what is guaranteed. Then come commands, each with the
// lines of its input, four dashes, and what happened because of it, in the order in which it did:
//
//	run s-1 Pay the bill.
//	----
//	run_started r-1 "Pay the bill."
//	step_started 1
//	model: 1 message, tools pay
//	replied calls c-1 pay {"n":1}
//	suspended p-1 approval of c-1 pay {"n":1}
//	run_ended paused
//	run returned *agent.PausedError
//
// The lines are of four sorts:
//
//   - One that begins with a kind, such as replied, is a fact when it is stored. Of its fields the
//     line has those that matter.
//   - "model: …" is a request to the model: how many messages it has, and which tools it offers.
//   - "tool …" and "undo …" are what tools do: their effects.
//   - "… returned …" is how the function returned that the command called: the type of its error,
//     with its code, and the answer of the run.
//
// Runs, calls and pauses are named r-1, c-1 and p-1 in the order in which they are seen first; an
// idempotency key is named as the call is. Times aren't shown, and long texts are cut. What happens
// in a subagent begins with "in" and the call that it belongs to. In a script with several
// processes, lines begin with the name of theirs; lines of another session than the first have the
// name of that session.
//
// Time is that of a bubble (testing/synctest): it passes only while everything waits, or with
// advance.
//
// # How to write a script
//
// Write the comment and the commands, with four dashes after each, and have the rest written:
//
//	go test ./agent/internal/transcripts -run Scripts/name -rewrite
//
// Then read it, line by line, against docs/guarantees.md and the documentation of package agent. A
// line that breaks a guarantee is a bug to fix, not one to keep. Last, link the script from
// docs/guarantees.md.
//
// # Commands that prepare
//
// They hold for processes that start after them.
//
// tools has one tool a line, with attributes. Its input is {"n": a whole number}, or {"text": …}
// with the attribute text.
//
//	readonly, idempotent, parallel, high-risk, requires=other, modes=plan,act   as in tools.Spec
//	asks, allow-always, expires=10m                                             its approval
//	undo, unverified, denied-by-check, scoped, preview                                   functions that it has
//	takes=10s, stuck=2m            how long it works, the latter whatever becomes of its context
//	fails, broken, panics          how it ends; fails=2 and broken=2: the first two times only.
//	                               A broken tool may be tried again.
//	question, question=again       it asks a person for a colour, and runs again with the answer
//	switches-to=act                it changes the mode
//	size=300                       its result has so many words
//	agent                          it is a subagent; other tools belong to it with of=its-name
//
// model adds replies, one a line, for all models:
//
//	say Done.                      a text
//	call work {"n":1} + look {}    calls, with " + " between them
//	unfit call nope {}             calls that may be of tools, or have inputs, that don't fit
//	refuse I can't.   empty        a refusal, and nothing
//	full say It is a long          a reply that was cut off at the output limit
//	cut-after 3 say Done.          the connection ends after so many chunks, the first one empty
//	fail transient                 an error of that class (package fault)
//	fail-after 3 transient say A   the same after so many chunks
//	too-long 1000 1200             the provider refuses the request: the limit, and what it has
//	slow 1s say Done.   hang       slowly, and never
//
// config has one setting a line:
//
//	limits steps=2 repeats=4 tool-failures=4 failures=3 corrections=1 parallel=2
//	in-doubt tell                  Config.InDoubt
//	expires 10m                    Config.PauseExpires
//	modes plan act                 Config.Modes
//	deny pay {"n":13}   ask pay    policies, for one input or all
//	permit pay                     a policy that answers what the tool asks
//	grants project                 one that offers a scope, and permits the tools that got it
//	window 2000                    Config.Memory, with a window of so many tokens
//	redact 4711                    Config.Redact
//	hook answer pay text           a hook that answers in a tool's place,
//	hook send-back text            that sends the first answer back,
//	hook abort pay                 or that aborts the run before a call
//
// # Commands that act
//
// The first word is the session, except for those that concern a process.
//
//	run s-1 text                   Agent.Run; key=k-1 mode=plan supersede=yes replaces=1
//	start s-1 text                 the same, without waiting for its end
//	stream s-1 text                Agent.Stream with what is shown; until=replied leaves there
//	continue s-1                   a run of Continue; accept=yes
//	resume s-1 approve p-1         a run of Resume with decisions, " + " between them; by=ann:
//	                               approve, reject, edit, suggest, answer, always; always p-1 project
//	decide s-1 approve p-1         Session.Decide
//	call s-1 pay {"n":1}           a run of CallTool
//	steer s-1 text                 Session.Steer; key=k-1
//	cancel, stop, pause, delete, prune, compact s-1
//	mode s-1 plan                  Session.SetMode
//	revoke s-1 pay                 Session.Revoke; by=ann
//	fork s-1 s-2                   Session.Fork; at=5
//	undo s-1                       Session.Undo; steps=1 by=ann
//	status, pending, rules, facts, messages s-1
//	shown s-1                      what the model was shown in its newest call
//	advance 10m                    time passes
//
// A process is named with on=a; without it, there is one without a name. The next command for a
// process that was killed is for a new one in its place.
//
//	kill                           the process is killed now: it reaches no store, its tools do nothing
//	kill after tool_started        … when such a fact is stored; with a number: the second, …
//	kill before tool_started       … instead of storing it
//	kill during tool work          … when the tool has had its effect; also "during undo work",
//	                               "during model"
//	restart                        the process ends in order, and another takes its place
//	disconnect, reconnect          the process doesn't reach the store
//	drain, recover                 Agent.Drain, Agent.Recover
package transcripts
