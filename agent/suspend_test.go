package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An asker is the tool "ask". Its call suspends itself as many times as its input says, and keeps
// all answers in its state.
type asker struct {
	done effects // of each round that asks, and of the last one as -1
	mu   sync.Mutex
	keys map[string]bool
	last tools.Resumption
}

func (q *asker) tool(spec tools.Spec) tools.Tool {
	spec.Name = "ask"
	return tools.New(spec, func(ctx context.Context, in Number) (string, error) {
		var answers []string
		r, ok := tools.Resumed(ctx)
		if ok {
			var answer string
			if err := r.Decode(&answers, &answer); err != nil {
				return "", err
			}
			answers = append(answers, answer)
		}
		q.mu.Lock()
		if q.keys == nil {
			q.keys = make(map[string]bool)
		}
		q.keys[tools.IdempotencyKey(ctx)], q.last = true, r
		q.mu.Unlock()
		if n := len(answers); n < in.N {
			q.done.add(n)
			return "", tools.Suspend{Kind: "question", Prompt: fmt.Sprint("question ", n+1),
				Schema: json.RawMessage(`{"type":"string"}`), Again: true, State: answers}
		}
		q.done.add(-1)
		return strings.Join(answers, ","), nil
	})
}

func TestACallThatSuspendsRunsAgainWithItsStateAndTheAnswer(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var q asker
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{q.tool(tools.Spec{})},
			Provider: inTurn(call("ask", 2), say("Done."))}
		a := newAgent(t, cfg)
		var shownPauses []*agent.Suspended
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		shownPauses = of[*agent.Suspended](all)
		require.Len(t, shownPauses, 1)
		require.True(t, shownPauses[0].Pause.Again)
		require.Empty(t, shownPauses[0].State, "the state is for the call only")
		for n, answer := range []string{"red", "blue"} {
			if store != nil {
				a = newAgent(t, cfg) // as another process
			}
			pending, err := a.Session("s").Pending(t.Context())
			require.NoError(t, err)
			require.Len(t, pending, 1)
			require.Equal(t, fmt.Sprint("question ", n+1), pending[0].Reason)
			_, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(pending[0].ID, 7)))
			require.ErrorAs(t, err, new(*agent.DecisionError), "the answer has to fit the schema")
			_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(pending[0].ID)))
			require.ErrorAs(t, err, new(*agent.DecisionError), "a question can't be approved")
			runInput(t, a, agent.Resume("s", agent.Answer(pending[0].ID, answer).By("ann")))
		}
		res, err := a.Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "Done.", res.Text())
		require.Equal(t, "red,blue", finished(t, a, "s")[0].Text())
		require.Equal(t, tools.OK, finished(t, a, "s")[0].Status)
		require.Equal(t, "ann", q.last.By)
		require.Len(t, q.keys, 1, "each run of a call has the call's key")
		require.Equal(t, 3, q.done.all())
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestACallThatRunsAgainAfterACrashIsInDoubtOrRepeated(t *testing.T) {
	for _, repeatable := range []bool{false, true} {
		crashes := 0
		for at, over := 1, false; !over; at++ {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				var q asker
				build := func(store journal.Store) *agent.Agent {
					return newAgent(t,
						agent.Config{Journal: store, Tools: []tools.Tool{q.tool(tools.Spec{Idempotent: repeatable})},
							Provider: inTurn(call("ask", 1), say("Done."))})
				}
				res := run(t, build(store))
				dying := &weak{Store: store, at: at, err: death, lasts: true}
				_, err := build(dying).Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "red")))
				if over = !dying.dead(); over {
					require.NoError(t, err)
					return
				}
				crashes++
				ran := q.done.of(-1)
				<-time.After(time.Minute) // the lease ends
				a := build(store)
				_, err = a.Recover(t.Context(), agent.Recovery{})
				require.NoError(t, err)
				pending, err := a.Session("s").Pending(t.Context())
				require.NoError(t, err)
				for _, p := range pending {
					// a person lets the call in doubt run again: it has its state and its answer
					// still
					require.Equal(t, agent.PauseInDoubt, p.Kind)
					require.False(t, repeatable)
					runInput(t, a, agent.Resume("s", agent.Approve(p.ID)))
				}
				end, err := a.Session("s").Result(t.Context())
				require.NoError(t, err)
				require.Equal(t, "Done.", end.Text())
				require.Equal(t, "red", finished(t, a, "s")[0].Text())
				require.Equal(t, 1, q.done.of(0), "what came before the question isn't repeated")
				if !repeatable && len(pending) == 0 {
					require.Equal(t, 1, q.done.of(-1))
				}
				require.LessOrEqual(t, q.done.of(-1), ran+1)
				requireSound(t, "s", facts(t, a, "s"))
			})
		}
		require.Greater(t, crashes, 2)
	}
}

func TestACallThatWaitsToRunAgainExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q asker
		a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, PauseExpires: time.Hour,
			Tools: []tools.Tool{q.tool(tools.Spec{})}, Provider: inTurn(call("ask", 1), say("Too late."))})
		res := run(t, a)
		<-time.After(2 * time.Hour)
		_, err := a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "red")))
		var late *agent.DecisionError
		require.ErrorAs(t, err, &late)
		require.Equal(t, machine.DecisionExpired, late.Code)
		_, err = a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		got := finished(t, a, "s")
		require.Equal(t, tools.Rejected, got[0].Status)
		require.Contains(t, got[0].Text(), "rejected: expired")
		require.Zero(t, q.done.of(-1))
	})
}

func TestAForkHasNoCallThatWaitsToRunAgain(t *testing.T) {
	var q asker
	a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{q.tool(tools.Spec{})},
		Provider: inTurn(call("ask", 1), say("Done."))})
	res := run(t, a)
	require.NoError(t, a.Session("s").Fork(t.Context(), "copy", 0))
	_, err := a.Run(t.Context(), agent.Resume("copy", agent.Answer(res.Pending[0].ID, "red")))
	require.Error(t, err)
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "red"))).Text())
	require.Equal(t, 1, q.done.of(-1))
}

func TestACallThatWaitsToRunAgainSurvivesASnapshot(t *testing.T) {
	var q asker
	a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{q.tool(tools.Spec{})},
		Provider: inTurn(call("ask", 2), say("Done."))})
	res := run(t, a)
	res = runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "red")))
	s := a.Session("s")
	before, err := s.Facts(t.Context())
	require.NoError(t, err)
	m, err := machine.Replay("s", before...)
	require.NoError(t, err)
	state, err := m.State().Clone()
	require.NoError(t, err)
	m, err = machine.Replay("s",
		&machine.Snapshot{Meta: agent.Meta{Origin: &machine.Origin{Session: "s", Run: res.Run}, Seq: state.Seq + 1},
			State: state})
	require.NoError(t, err)
	require.JSONEq(t, `["red"]`, string(m.State().Run.Calls[0].State))
	require.True(t, m.State().Run.Calls[0].Pause.Again)
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "blue"))).Text())
	require.Equal(t, "red,blue", finished(t, a, "s")[0].Text())
}

func TestACallThatIsRejectedWhileItWaitsToRunAgainHasBegun(t *testing.T) {
	var q asker
	a := newAgent(t,
		agent.Config{Tools: []tools.Tool{q.tool(tools.Spec{})}, Provider: inTurn(call("ask", 1), say("Done."))})
	res := run(t, a)
	end := runInput(t, a, agent.Resume("s", agent.Reject(res.Pending[0].ID, "not now")))
	require.Contains(t, results(end)[0].Text(), "It had begun, and waited for an answer.")
	require.Zero(t, q.done.of(-1))
}

func TestAQuestionThatAPersonDeclinesHadNoEffect(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Which color?"}
	})
	for want, decide := range map[string]func(id string) agent.Decision{
		"A person declined to answer this question. not now": func(id string) agent.Decision {
			return agent.Reject(id, "not now")
		},
		"A person declined to answer this question and suggests instead: go on": func(id string) agent.Decision {
			return agent.Suggest(id, "go on")
		},
	} {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{ask}, Provider: inTurn(call("ask", 1), say("Done."))})
		res := run(t, a)
		end := runInput(t, a, agent.Resume("s", decide(res.Pending[0].ID)))
		require.Equal(t, want, results(end)[0].Text())
	}
}

func TestACallThatRunsAgainIsCheckedAgain(t *testing.T) {
	var q asker
	deny := false
	var asked, ended int
	hooks := agent.Hooks{
		BeforeTool: func(context.Context, *agent.ToolCall) error { asked++; return nil },
		AfterTool:  func(context.Context, *agent.ToolCall, *agent.ToolResult) error { ended++; return nil },
	}
	policy := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		if deny {
			return tools.Verdict{Effect: tools.Deny, Reason: "closed for today"}
		}
		return tools.Verdict{Effect: tools.Ask}
	}
	a := newAgent(t, agent.Config{Tools: []tools.Tool{q.tool(tools.Spec{})},
		Provider: inTurn(call("ask", 3), say("Done.")), Hooks: []agent.Hooks{hooks}, Policies: []tools.Policy{policy}})
	res := run(t, a)
	res = runInput(t, a, agent.Resume("s", agent.Edit(res.Pending[0].ID, Number{1})))
	require.Equal(t, 2, asked, "about the call, and about its edited input")
	require.Equal(t, machine.PauseKind("question"), res.Pending[0].Kind)
	deny = true
	end := runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "red")))
	require.Contains(t, results(end)[0].Text(), "closed for today")
	require.Equal(t, tools.Denied, finished(t, a, "s")[0].Status, "it isn't in doubt: it ended when it asked")
	require.Equal(t, 2, asked)
	require.Equal(t, 1, ended)
	require.Zero(t, q.done.of(-1))
}

func TestACallOfASubagentRunsAgainWithItsStateAndTheAnswer(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var q asker
		child := newAgent(t, agent.Config{Name: "child", Tools: []tools.Tool{q.tool(tools.Spec{})},
			Provider: inTurn(call("ask", 2), say("I know."))})
		a := newAgent(t, agent.Config{Name: "parent", Journal: store,
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}, Provider: inTurn(task("child", "x"), say("Done."))})
		res := run(t, a)
		res = runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "red")))
		require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "blue"))).Text())
		require.JSONEq(t, `["red"]`, string(q.last.State))
		require.Equal(t, 3, q.done.all())
		for _, f := range facts(t, a, "s") {
			if f, ok := f.(*agent.Suspended); ok {
				require.Empty(t, f.State, "the state is in the subagent's log")
			}
		}
	})
}

func TestWhatACallIsSuspendedWithIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		state any
		fits  bool
	}{
		"nothing":      {nil, true},
		"at the bound": {strings.Repeat("x", tools.MaxState-2), true},
		"too large":    {strings.Repeat("x", tools.MaxState-1), false},
		"no JSON":      {make(chan int), false},
		"too deep":     {json.RawMessage(strings.Repeat("[", 2000) + strings.Repeat("]", 2000)), false},
		"bad UTF-8":    {"a\xff", true},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			tool := tools.New(tools.Spec{Name: "ask"}, func(ctx context.Context, _ Number) (string, error) {
				if ran++; ran == 2 {
					return "ok", nil
				}
				return "", tools.Suspend{Again: true, State: c.state}
			})
			a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{tool},
				Provider: inTurn(call("ask", 1), say("Done."))})
			res := run(t, a)
			if !c.fits {
				require.Equal(t, tools.Failed, finished(t, a, "s")[0].Status)
				require.Contains(t, finished(t, a, "s")[0].Cause, "State")
				return
			}
			require.Equal(t, "Done.",
				runInput(t, a,
					agent.Resume("s", agent.Answer(res.Pending[0].ID, json.RawMessage("{ \"a\" : 1 }")))).Text())
			require.Equal(t, 2, ran)
		})
	}
}

func TestTheStateOfACallIsRedacted(t *testing.T) {
	var state string
	tool := tools.New(tools.Spec{Name: "ask"}, func(ctx context.Context, _ Number) (string, error) {
		if r, ok := tools.Resumed(ctx); ok {
			state = string(r.State)
			return "ok", nil
		}
		return "", tools.Suspend{Again: true, State: map[string]string{"key": "s3cret"}}
	})
	a := newAgent(t, agent.Config{Tools: []tools.Tool{tool}, Provider: inTurn(call("ask", 1), say("Done.")),
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }})
	runInput(t, a, agent.Resume("s", agent.Answer(run(t, a).Pending[0].ID, provider.StopDone)))
	require.JSONEq(t, `{"key":"***"}`, state)
}

func TestAPauseNamesWhoAnswers(t *testing.T) {
	store := &journal.MapStore{}
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) {
		return "", tools.Suspend{Kind: "consultation", For: "law\x00yer s3cret", Prompt: "May we?"}
	})
	child := newAgent(t, agent.Config{Name: "child", Tools: []tools.Tool{ask}, Provider: inTurn(call("ask", 1),
		say("We may."))})
	a := newAgent(t, agent.Config{Name: "parent", Journal: store, Tools: []tools.Tool{agent.AsTool(child,
		tools.Spec{})}, Provider: inTurn(task("child", "x"), say("Done.")),
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }})
	p := run(t, a).Pending[0]
	require.Equal(t, "law yer ***", p.For)
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, p.For, head.Open[0].For, "lists needn't read logs")
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, p.ID, pending[0].ID, "a session lists all that it waits for")
	res := runInput(t, a, agent.Resume("s", agent.Answer(p.ID, "yes").By("lawyer")))
	require.Equal(t, "Done.", res.Text())
}
