package agent_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A rogue is a provider that keeps what it yields with, and yields to it in the calls of later runs.
type rogue struct {
	kept  func(provider.Chunk, error) bool
	run   string // whose that is
	first func(yield func(provider.Chunk, error) bool)
}

func (r *rogue) Stream(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if r.kept == nil {
			r.kept, r.run = yield, req.Labels.Run
			r.first(yield)
			return
		}
		_ = yield(provider.Start("rogue"), nil) && yield(provider.Text("mine"), nil)
		if req.Labels.Run != r.run {
			r.kept(provider.Text("another's"), nil)
		}
		yield(provider.End(provider.StopDone, provider.Usage{}), nil)
	}
}

// TestAProviderThatGoesOnAfterItWasStoppedReachesNoOtherRun: what a run needs for its model calls is kept for the next run,
// but not if a provider may not be done with it.
func TestAProviderThatGoesOnAfterItWasStoppedReachesNoOtherRun(t *testing.T) {
	for how, first := range map[string]func(yield func(provider.Chunk, error) bool){
		"failed": func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fault.New(fault.Permanent, "no"))
		},
		"cut": func(yield func(provider.Chunk, error) bool) { yield(provider.Start("rogue"), nil) },
		"left": func(yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("rogue"), nil) && yield(provider.Text("leave"), nil) && yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		},
		"panicked": func(yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("rogue"), nil) && yield(provider.Text("panic"), nil) && yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		},
		"made again": func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fault.New(fault.Transient, "not now")) // the second attempt is another's already
		},
	} {
		for _, bare := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/bare %v", how, bare), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &rogue{first: first}
					a := newAgent(t, agent.Config{Provider: p, NoGuard: bare})
					run := func() {
						defer func() {
							if v := recover(); v != nil && v != "panic" {
								panic(v)
							}
						}()
						for ev := range a.Stream(t.Context(), agent.Input{Prompt: "Go."}) {
							text, ok := ev.(agent.TextDelta)
							switch {
							case ok && text.Text == "leave":
								return
							case ok && text.Text == "panic":
								panic(text.Text)
							}
							require.False(t, ok && text.Text != "mine", "%v", ev)
						}
					}
					for range 3 {
						run()
					}
				})
			})
		}
	}
}

func TestRunsThatFollowEachOtherShareNothing(t *testing.T) {
	for _, bare := range []bool{true, false} {
		a := newAgent(t, agent.Config{NoGuard: bare, Provider: provider.Func(func(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				_ = yield(provider.Start("echo"), nil) && yield(provider.Text(req.Messages[0].Text()), nil) &&
					yield(provider.End(provider.StopDone, provider.Usage{}), nil)
			}
		})})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				var kept []agent.TextDelta
				var want []string
				for n := range 50 {
					prompt := fmt.Sprintf("%d said %d", i, n)
					for ev, err := range a.Stream(t.Context(), agent.Input{Prompt: prompt}) {
						if err != nil {
							t.Error(err)
						}
						if text, ok := ev.(agent.TextDelta); ok {
							kept, want = append(kept, text), append(want, prompt)
						}
					}
				}
				for i, text := range kept {
					if text.Text != want[i] {
						t.Errorf("%q became %q", want[i], text.Text)
					}
				}
			})
		}
		wg.Wait()
	}
}
