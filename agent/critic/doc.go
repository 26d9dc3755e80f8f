// Package critic judges the answers of an agent before they are given, and has weak ones improved.
//
// It works as hooks. [Rate] says by rules how complex a request is; a simple one costs nothing. For
// others a model judges the answer. If work is missing, the answer is sent back with what is
// missing. If only the wording is weak, and Config.Rewrite is set, it is rewritten, and the new
// text is taken if it is judged to be better. Both are bounded: 2 rounds of at most 60 s, and a
// score of 0.85 is good enough. A round takes at most three model calls. The critic is shown at
// most 32 KiB of the task, 64 KiB of the answer, and 64 KiB of the newest calls with 1,000 bytes of
// each input and result; a longer answer isn't rewritten. [Rate] reads 16 KiB.
//
//	hooks, err := critic.New(critic.Config{Provider: fast})
//	if err != nil {
//		return err
//	}
//	a, err := agent.New(agent.Config{Provider: model, Hooks: []agent.Hooks{hooks}})
//
// Each verdict is recorded in the run, as an machine.Emitted of the kind "critic" with a [Verdict].
// The calls of the critic have the label kind "critic", so budgets and ledgers show what it spends
// apart from the run; the run's own limits don't count it. If the critic can't judge, the answer is
// given as it is.
package critic
