package live_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// eachStore runs a test with facts in the agent's own memory, and encoded in a journal.
func eachStore(t *testing.T, f func(t *testing.T, store journal.Store)) {
	t.Run("in memory", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, nil) }) })
	t.Run("in a journal", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, &journal.MapStore{}) }) })
}

func TestAReaderMayJoinAtEveryEventAndMissesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{work()}}, paced("one two three"),
			paced("four five"), providertest.Slow(10*time.Millisecond, providertest.Say("And done.")))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		var late []func()
		pages := make([]*page, 60)
		for i := range pages {
			late = append(late, func() {
				<-time.After(time.Duration(i) * 5 * time.Millisecond)
				pages[i] = watch(t, h, run.After, nil)
			})
		}
		together(late...)
		facts := allFacts(t, a)
		for i, p := range pages {
			require.Equal(t, facts, p.facts, "reader %d", i)
			require.Zero(t, p.lost)
			for n, text := range p.whole {
				if text != "" { // a reader that was there before the reply was complete has all of it
					require.Equal(t, pages[0].whole[n], text, "reader %d, reply %d", i, n)
				}
			}
		}
		require.Equal(t, []string{`one two three|{"n":1}`, `four five|{"n":1}`, "And done."}, pages[0].whole)
		require.NoError(t, h.Close())
	})
}

func TestALateReaderGetsTheReplySoFarAsOneNoteForEachPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{work()}}, providertest.HangAfter(100, providertest.Reply(
			providertest.SayChunks("a", "b"), providertest.Think("c d e"), providertest.SayChunks("f", "g"),
			providertest.Interleaved(
				providertest.CallSpec{Tool: "work", Input: Number{1}},
				providertest.CallSpec{Tool: "work", Input: Number{22}}))))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		<-time.After(time.Second)
		var notes []agent.Event
		watch(t, h, run.After, func(p *page) bool {
			if _, fact := p.all[len(p.all)-1].(agent.Fact); !fact {
				notes = append(notes, p.all[len(p.all)-1])
			}
			return len(notes) == 7
		})
		texts := map[int]string{}
		for _, n := range notes {
			switch n := n.(type) {
			case *agent.TextDelta:
				texts[n.Index] += n.Text
			case *agent.ReasoningDelta:
				texts[n.Index] += n.Text
			case *agent.CallDelta:
				texts[n.Index] += n.Text
			}
		}
		require.Equal(t, map[int]string{0: "ab", 1: "c d e", 2: "fg", 3: `{"n":1}`, 4: `{"n":22}`}, texts)
		require.NoError(t, h.Cancel(t.Context(), "s"))
		require.NoError(t, h.Close())
	})
}

func TestLeavingAtEveryEventHarmsNeitherTheRunNorOtherReaders(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{work()}}, paced("one two three"),
			providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		var whole *page
		readers := []func(){func() { whole = watch(t, h, run.After, nil) }}
		for n := range 18 {
			readers = append(readers, func() {
				watch(t, h, run.After, func(p *page) bool { return len(p.all) > n })
			})
		}
		together(readers...)
		require.Greater(t, len(whole.all), 15)
		require.Equal(t, allFacts(t, a), whole.facts)
		require.NoError(t, h.Close())
	})
}

func TestASlowReaderLosesNotesAndIsToldButNoFactIsLost(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		long := func(n int) providertest.Step {
			return providertest.Slow(time.Millisecond,
				providertest.Reply(providertest.SayChunks(repeat("x", n)...), providertest.Call("work", Number{n})))
		}
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{work()}}, long(3000), long(3001), long(3002),
			providertest.Slow(time.Millisecond, providertest.SayChunks(repeat("y", 3000)...)))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		var slow, fast *page
		together(
			func() { fast = watch(t, h, run.After, nil) },
			func() {
				slow = watch(t, h, run.After, func(p *page) bool {
					if len(p.all)%500 == 100 {
						<-time.After(2900 * time.Millisecond)
					}
					return false
				})
			})
		facts := allFacts(t, a)
		require.Equal(t, facts, fast.facts)
		require.Equal(t, facts, slow.facts)
		require.Zero(t, fast.lost)
		require.Positive(t, slow.lost)
		notes := len(fast.all) - len(fast.facts)
		lagged := 0
		for _, ev := range slow.all {
			if l, ok := ev.(*agent.Lagged); ok {
				require.Equal(t, "s", l.Session())
				require.NotEmpty(t, l.Run())
				lagged++
			}
		}
		require.Positive(t, lagged)
		require.Less(t, slow.lost, notes)
		for i, text := range slow.whole {
			if text != "" {
				require.Equal(t, fast.whole[i], text, "reply %d", i)
			}
		}
		require.Equal(t, strings.Repeat("y", 3000), fast.whole[3])
		require.NoError(t, h.Close())
	})
}

func repeat(s string, n int) []string { return strings.Split(strings.Repeat(s, n), "") }

func TestAnIdleReaderGetsTheNotesOfTheNextRun(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a := newAgent(t, agent.Config{Journal: store}, providertest.Say("One."), providertest.Say("Two two."),
			providertest.Say("Three."))
		h := newHub(t, live.Config{Agent: a})
		start(t, h)
		var p *page
		together(
			func() {
				p = &page{}
				for ev, err := range h.Watch(t.Context(), "s", 0) {
					require.NoError(t, err)
					if p.add(ev); len(p.whole) == 3 && p.ended() {
						return
					}
				}
			},
			func() {
				for range 2 {
					<-time.After(time.Minute)
					start(t, h) // a run that is over at once
				}
			})
		require.Equal(t, []string{"Two two.", "Three."}, p.whole[1:])
		require.Equal(t, allFacts(t, a), p.facts)
		require.NoError(t, h.Close())
	})
}

func TestFactsFromElsewhereReachReadersToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a := newAgent(t, agent.Config{Journal: store}, providertest.Say("Here."), providertest.Say("Here again."))
		elsewhere := newAgent(t, agent.Config{Journal: store}, providertest.Say("There."))
		h := newHub(t, live.Config{Agent: a, Recover: -1})
		start(t, h)
		var p *page
		together(
			func() {
				ends := 0
				p = &page{}
				for ev, err := range h.Watch(t.Context(), "s", 0) {
					require.NoError(t, err)
					if p.add(ev); p.ended() {
						if ends++; ends == 3 {
							return
						}
					}
				}
			},
			func() {
				<-time.After(time.Minute)
				_, err := elsewhere.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				require.NoError(t, err)
				start(t, h) // before readers have polled
			})
		require.Equal(t, allFacts(t, a), p.facts)
		require.NoError(t, h.Close())
	})
}

func TestThePausesOfSubagentsAreTheSameFactsForEveryReader(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		n := 0
		child := newAgent(t, agent.Config{Name: "child", Tools: []tools.Tool{risky(&n)}},
			providertest.Calls(providertest.CallSpec{Tool: "risky", Input: Number{1}},
				providertest.CallSpec{Tool: "risky", Input: Number{2}}), providertest.Say("Both."))
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}},
			providertest.Call("child", agent.Task{Task: "go"}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		run, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go", Children: true})
		require.NoError(t, err)
		var early, late *page
		together(
			func() { early = watch(t, h, run.After, nil) },
			func() {
				<-time.After(time.Minute)
				pending, err := a.Session("s").Pending(t.Context())
				require.NoError(t, err)
				require.Len(t, pending, 2)
				_, err = h.Start(t.Context(),
					agent.Resume("s", agent.Approve(pending[0].ID), agent.Approve(pending[1].ID)))
				require.NoError(t, err)
				late = watch(t, h, 0, nil)
			})
		require.Equal(t, 2, n)
		require.Equal(t, allFacts(t, a), early.facts)
		require.Equal(t, allFacts(t, a), late.facts)
		children := 0
		for _, ev := range early.all {
			if ev.Envelope().Session() != "s" {
				children++
			}
		}
		require.Greater(t, children, 8)
		require.NoError(t, h.Close())
	})
}

func TestAReaderThatIsManyBytesBehindMissesNoFact(t *testing.T) {
	const calls, size = 18, 512 << 10
	synctest.Test(t, func(t *testing.T) {
		large := tools.New(tools.Spec{Name: "large"}, func(context.Context, Number) (string, error) {
			<-time.After(time.Millisecond)
			return strings.Repeat("x", size), nil
		})
		var steps []providertest.Step
		for n := range calls {
			steps = append(steps, providertest.Call("large", Number{n}))
		}
		a := newAgent(t, agent.Config{Tools: []tools.Tool{large}}, append(steps, providertest.Say("Done."))...)
		h := newHub(t, live.Config{Agent: a})
		run, err := h.Start(t.Context(),
			agent.Input{Session: "s", Prompt: "go", Limits: &agent.Limits{Steps: calls + 1}})
		require.NoError(t, err)
		p := watch(t, h, run.After, func(p *page) bool {
			if len(p.all) == 10 {
				<-time.After(time.Minute)
			}
			return false
		})
		require.Equal(t, allFacts(t, a), p.facts)
		require.Positive(t, p.lost)
		require.NoError(t, h.Close())
	})
}
