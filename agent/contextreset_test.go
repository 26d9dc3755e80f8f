package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Finding is a note of these tests.
type Finding struct {
	Pages int    `json:"pages"`
	Last  string `json:"last"`
}

func TestCheckpointsAreTypedNotesAtSharesOfTheWindow(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			var shares []float64
			mem := small(memory.Step{Strategy: memory.Slide{}})
			mem.ProgressNotes = []notes.Progress{notes.ProgressOf("finding",
				func(_ context.Context, in *notes.Input) (Finding, error) {
					shares = append(shares, in.Share)
					require.Equal(t, len(shares), in.Index)
					require.Equal(t, "read it all", in.Goal)
					require.Contains(t, in.Transcript(0), "call read")
					if len(shares) == 2 {
						return Finding{}, errors.New("nothing was found")
					}
					return Finding{Pages: in.Index, Last: "secret-7"}, nil
				}, .25, .6)}
			cfg := agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)}, Journal: store(),
				Limits: agent.Limits{Steps: 50},
				Redact: func(s string) string { return strings.ReplaceAll(s, "secret-7", "[redacted]") }}
			a, _ := scripted(t, cfg, reads(14)...)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "read it all"}))
			require.NoError(t, err)
			require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "nothing was found")
			require.GreaterOrEqual(t, len(shares), 3, "a mark is armed again once the share was below it")
			require.Less(t, shares[0], .45)
			require.GreaterOrEqual(t, shares[0], .25)
			require.GreaterOrEqual(t, shares[1], .6)
			found, err := notes.Read[Finding](facts(t, a, "s"), "finding")
			require.NoError(t, err)
			require.Equal(t, Finding{1, "[redacted]"}, found[0])
			require.Equal(t, 3, found[1].Pages)
			_, err = notes.Read[int](facts(t, a, "s"), "finding")
			require.ErrorContains(t, err, `note 1 of category "finding"`)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

// filling is a model that reads until it is told that page 9 is done, and hands its work off in
// between.
type filling struct {
	t        *testing.T
	notes    int
	requests [][]provider.Message
	next     int
	upTo     int
}

func (f *filling) answer(_ context.Context, req *provider.Request) (*provider.Response, error) {
	if req.Labels.Kind == "note" {
		f.notes++
		require.Empty(f.t, req.Tools)
		require.NotNil(f.t, req.Output)
		require.Contains(f.t, req.LastUserText(), "call read")
		require.Less(f.t, memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), req).Total, 6_000,
			"there is room for it")
		data, _ := json.Marshal(notes.ResetNote{Done: []string{fmt.Sprintf("read pages up to %d", f.next)},
			Remaining: []string{"read the rest"}, Facts: []string{"page 3 is secret-7"}})
		return &provider.Response{Parts: []provider.Part{provider.TextPart(string(data))}, Stop: provider.StopDone,
			Usage: provider.Usage{Input: 1_000, Output: 100}}, nil
	}
	f.requests = append(f.requests, req.Messages)
	if f.next++; f.next > f.upTo {
		return &provider.Response{Parts: []provider.Part{provider.TextPart("all read")}, Stop: provider.StopDone,
			Usage: provider.Usage{Input: 10, Output: 1}}, nil
	}
	r := callOf("read", Number{f.next})
	r.Usage = provider.Usage{Output: 10} // the input isn't said: the estimate stands
	return r, nil
}

func TestWorkIsHandedToAFreshRunWhenItsConversationFillsTheWindow(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			f := &filling{t: t, upTo: 20}
			mem := small()
			mem.ContextReset = &notes.ContextReset{}
			var ended []string
			cfg := agent.Config{
				Provider: providertest.Func(f.answer), Memory: mem, Tools: []tools.Tool{reading(800)}, Journal: store(),
				Limits: agent.Limits{Steps: 50},
				Redact: func(s string) string { return strings.ReplaceAll(s, "secret-7", "[redacted]") },
				Hooks: []agent.Hooks{{AfterRun: func(_ context.Context, r *agent.Result) error {
					ended = append(ended, string(r.Status)+" "+r.Code)
					return nil
				}}},
			}
			a := newAgent(t, cfg)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Task: "t", Model: "large",
				Prompt: "read it all, and say ä", Parts: []provider.Part{provider.TextPart("the plan")}}))
			require.NoError(t, err)
			require.Empty(t, of[*agent.MemoryWarning](all))
			require.Empty(t, of[*machine.Compacted](all), "reset the context instead of compacting")

			starts, ends := of[*agent.RunStarted](all), of[*agent.RunEnded](all)
			require.Equal(t, 3, len(starts))
			require.Equal(t, 2, f.notes)
			require.Equal(t, []string{"stopped context reset", "stopped context reset", "completed "}, ended)
			res := ends[2].Result
			require.Equal(t, "all read", res.Text())
			require.Equal(t, 21, res.Steps, "figures are those of the chain")
			require.Len(t, res.ToolNames(), 20)
			require.Equal(t, int64(20*10+11+2*1_100), res.Usage.Total())
			for i, s := range starts {
				require.Equal(t, "read it all, and say ä", s.Message.Parts[0].Text, "verbatim")
				require.Equal(t, "the plan", s.Message.Parts[1].Text)
				if i == 0 {
					continue
				}
				require.Equal(t, &machine.ContextResetState{Index: i, From: starts[i-1].Run(), Prompt: 2},
					s.ContextReset)
				require.Len(t, s.Message.Parts, 3)
				for _, want := range []string{fmt.Sprintf("Context reset %d.", i), "read pages up to", "read the rest",
					"page 3 is [redacted]"} {
					require.Contains(t, s.Message.Parts[2].Text, want)
				}
				require.Equal(t, 1, strings.Count(s.Message.Parts[2].Text, "Context reset"), "only the newest note")
				require.NotEqual(t, starts[i-1].Run(), s.Run())
				require.Equal(t, "t", s.Task)
			}
			for _, s := range of[*agent.StepStarted](all) {
				require.Equal(t, "large", s.Model)
			}
			for i, msgs := range f.requests {
				require.NoError(t, paired(msgs), "request %d", i)
				require.LessOrEqual(t, memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}),
					&provider.Request{Messages: msgs}).Total, 9_000)
			}
			found, err := notes.Read[notes.ResetNote](facts(t, a, "s"), "context_reset")
			require.NoError(t, err)
			require.Len(t, found, 2)
			log := facts(t, a, "s")
			requireSound(t, "s", log)
			require.Contains(t, asText(t, log), "page 1: ", "the earlier conversation stays in the log")
			require.NotContains(t, asText(t, log), "secret-7")
			_, err = a.Session("s").Trace(t.Context())
			require.NoError(t, err)
		})
	}
}

func TestAChainOfContextResetsHasALimitAndThenCompacts(t *testing.T) {
	f := &filling{t: t, upTo: 40}
	mem := small()
	mem.ContextReset = &notes.ContextReset{Most: 2}
	a := newAgent(t, agent.Config{Provider: providertest.Func(f.answer), Memory: mem, Tools: []tools.Tool{reading(800)},
		Limits: agent.Limits{Steps: 50}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "read it all"}))
	require.NoError(t, err)
	require.Equal(t, 3, len(of[*agent.RunStarted](all)))
	require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "the context was reset 2 times")
	require.NotEmpty(t, of[*machine.Compacted](all))
	ends := of[*agent.RunEnded](all)
	require.Equal(t, agent.Completed, ends[2].Status)
}

func TestTheLimitsOfARunHoldForTheChain(t *testing.T) {
	for name, limits := range map[string]agent.Limits{machine.LimitSteps: {Steps: 12, Duration: -1},
		machine.LimitTokens:   {Steps: 50, Tokens: 1_200, Duration: -1},
		machine.LimitDuration: {Steps: 50, Duration: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &filling{t: t, upTo: 40}
				mem := small()
				mem.ContextReset = &notes.ContextReset{}
				slow := tools.New(tools.Spec{Name: "read", ReadOnly: true, Timeout: time.Hour},
					func(ctx context.Context, in Number) (string, error) {
						select {
						case <-time.After(5 * time.Minute):
						case <-ctx.Done():
							return "", ctx.Err()
						}
						return fmt.Sprintf("page %d: ", in.N) + strings.Repeat("word ", 800), nil
					})
				a := newAgent(t, agent.Config{Provider: providertest.Func(f.answer), Memory: mem,
					Tools: []tools.Tool{slow}, Limits: limits})
				res := runInput(t, a, agent.Input{Session: "s", Prompt: "read it all"})
				var limit *agent.LimitError
				require.ErrorAs(t, res.Err(), &limit)
				require.Equal(t, name, limit.Limit)
				require.Equal(t, 1, f.notes)
				require.LessOrEqual(t, res.Steps, 13)
			})
		})
	}
}

func TestAContextResetThatFailsIsTriedAgainAndThenTheRunGoesOnCompacted(t *testing.T) {
	for name, write := range map[string]func(context.Context, *notes.Input) (notes.ResetNote, error){
		"an error": func(context.Context, *notes.Input) (notes.ResetNote, error) {
			return notes.ResetNote{}, errors.New("down")
		},
		"a panic": func(context.Context, *notes.Input) (notes.ResetNote, error) { panic("oh") },
		"it hangs": func(ctx context.Context, _ *notes.Input) (notes.ResetNote, error) {
			<-ctx.Done()
			return notes.ResetNote{}, context.Cause(ctx)
		},
		"too long": func(context.Context, *notes.Input) (notes.ResetNote, error) {
			return notes.ResetNote{Notes: strings.Repeat("x", 100_000)}, nil
		},
		"no answer": notes.ByModel[notes.ResetNote](
			providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				return provider.TextResponse("I'd rather not"), nil
			}), ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				mem := small()
				mem.ContextReset = &notes.ContextReset{
					Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
						tries++
						return write(ctx, in)
					}}
				a, _ := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)},
					Limits: agent.Limits{Steps: 50}}, reads(30)...)
				all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
				require.NoError(t, err)
				require.Len(t, of[*agent.RunStarted](all), 1)
				require.NotEmpty(t, of[*agent.MemoryWarning](all))
				require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "the context isn't reset")
				require.NotEmpty(t, of[*machine.Compacted](all))
				require.Equal(t, agent.Completed, of[*agent.RunEnded](all)[0].Status)
				if name != "too long" {
					require.Zero(t, tries%2)
				}
			})
		})
	}
}

func TestWhatAPersonSaidInARunBeforeAContextResetIsToldVerbatim(t *testing.T) {
	var a *agent.Agent
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(ctx context.Context, in Number) (string, error) {
		if in.N == 2 {
			_, err := a.Session("s").Steer(ctx, "but delete nothing!")
			return "ok", err
		}
		if in.N == 7 { // it isn't told before the context reset
			if _, err := a.Session("s").Steer(ctx, "and hurry"); err != nil {
				return "", err
			}
			return "ok", agent.RequestContextReset(ctx)
		}
		return "page", nil
	})
	f := &filling{t: t, upTo: 9}
	mem := small()
	mem.ContextReset = &notes.ContextReset{}
	a = newAgent(t, agent.Config{Provider: providertest.Func(f.answer), Memory: mem, Tools: []tools.Tool{read}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	starts := of[*agent.RunStarted](all)
	require.Len(t, starts, 2, "a tool may ask for it, however full the conversation is")
	text := starts[1].Message.Parts[1].Text
	require.Contains(t, text, "- but delete nothing!\n- and hurry\n")
	require.Equal(t, "all read", of[*agent.RunEnded](all)[1].Result.Text())

	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "and again"})
	require.NoError(t, err)
	last := f.requests[len(f.requests)-1]
	require.Equal(t, "go", last[0].Parts[0].Text, "the session continues with the fresh conversation")
	require.ErrorContains(t, agent.RequestContextReset(t.Context()), "isn't that of a run")
}

func TestAProcessThatDiesRightAfterAContextResetGoesOnWithTheFreshRun(t *testing.T) {
	store := &journal.MapStore{}
	f := &filling{t: t, upTo: 20}
	mem := small()
	mem.ContextReset = &notes.ContextReset{}
	cfg := agent.Config{Provider: providertest.Func(f.answer), Memory: mem, Tools: []tools.Tool{reading(800)},
		Journal: store, Limits: agent.Limits{Steps: 50}}
	a := newAgent(t, cfg)
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "read it all"})
	require.NoError(t, err)
	log := facts(t, a, "s")
	for i, fact := range log {
		start, ok := fact.(*agent.RunStarted)
		if !ok || start.ContextReset == nil {
			continue
		}
		// The log as it was when the process died: up to the fresh run, which came in one append
		// with the end of the one before.
		half := &journal.MapStore{}
		var recs []journal.Record
		for _, fact := range log[:i+1] {
			rec, err := machine.Encode(fact)
			require.NoError(t, err)
			recs = append(recs, rec)
		}
		lease, err := half.Lease(t.Context(), "s", "dead", time.Second)
		require.NoError(t, err)
		require.NoError(t,
			half.Append(t.Context(), journal.Append{Session: "s", Fence: lease.Fence, Records: recs,
				Head: &journal.HeadUpdate{Status: "running"}}))
		require.NoError(t, half.Release(t.Context(), lease))
		f.next = 10
		cfg.Journal = half
		b := newAgent(t, cfg)
		res := runInput(t, b, agent.Continue("s"))
		require.Equal(t, agent.Completed, res.Status)
		require.Equal(t, "all read", res.Text())
		requireSound(t, "s", facts(t, b, "s"))
	}
}

func TestAnAgentThatIsAToolMayHandItsWorkOff(t *testing.T) {
	f := &filling{t: t, upTo: 20}
	mem := small()
	mem.ContextReset = &notes.ContextReset{}
	child := newAgent(t, agent.Config{Name: "reader", Provider: providertest.Func(f.answer), Memory: mem,
		Tools: []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50}})
	a, _ := scripted(t,
		agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Name: "reader", Description: "reads"})}},
		providertest.Call("reader", map[string]any{"task": "read it all"}), say("thanks"))
	res := run(t, a)
	require.Equal(t, "thanks", res.Text())
	require.Contains(t, results(res)[0].Parts[0].Text, "all read")
	require.False(t, results(res)[0].Error)
}

func TestLeavingTheStreamAtEachEventOfAContextResetLeavesNothingBehind(t *testing.T) {
	count := 1_000
	for n := rand.IntN(*every); n < count; n += *every {
		f := &filling{t: t, upTo: 9}
		mem := small()
		mem.ContextReset = &notes.ContextReset{}
		a := newAgent(t, agent.Config{Provider: providertest.Func(f.answer), Memory: mem,
			Tools: []tools.Tool{reading(800)}, Journal: &journal.MapStore{}})
		seen := 0
		for range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			if seen++; seen > n {
				break
			}
		}
		if seen <= n {
			count = n
		}
		requireSound(t, "s", facts(t, a, "s"))
		f.upTo = 0
		res, err := a.Run(context.Background(), agent.Input{Session: "s", Prompt: "again"})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, res.Status)
	}
	require.Greater(t, count, 20)
}

func TestALongNoteDoesNotCutWhatAPersonSaid(t *testing.T) {
	var a *agent.Agent
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(ctx context.Context, in Number) (string, error) {
		if in.N > 3 {
			return "page", agent.RequestContextReset(ctx)
		}
		_, err := a.Session("s").Steer(ctx,
			fmt.Sprintf("word %d: delete nothing! %s end of word %d", in.N, strings.Repeat("really ", 180), in.N))
		return "page", err
	})
	mem := small()
	mem.ContextReset = &notes.ContextReset{
		Write: func(context.Context, *notes.Input) (notes.ResetNote, error) {
			return notes.ResetNote{Done: []string{strings.Repeat("this and that ", 4_000)}}, nil
		}}
	a, _ = scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{read}}, call("read", 1), call("read", 2),
		call("read", 3), call("read", 4), say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	starts := of[*agent.RunStarted](all)
	require.Equal(t, 2, len(starts))
	text := starts[1].Message.Parts[1].Text
	for n := 1; n <= 3; n++ {
		require.Contains(t, text, fmt.Sprintf("word %d: delete nothing!", n))
		require.Contains(t, text, fmt.Sprintf("end of word %d", n))
	}
	require.Contains(t, text, "this and that")
	require.LessOrEqual(t, memory.NewEstimator(provider.ModelInfo{}).CountText(text), 9_000/4+20)
}
