package live_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A wire is a bus in memory, which loses some messages.
type wire struct {
	mu    sync.Mutex
	to    map[string][]chan []byte
	sent  int
	loses func(n int) bool // nil: none
	twice bool             // each message comes twice
}

func (w *wire) Publish(_ context.Context, topic string, message []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent++; w.loses != nil && w.loses(w.sent) {
		return nil
	}
	for _, c := range w.to[topic] {
		if c <- message; w.twice {
			c <- message
		}
	}
	return nil
}

func (w *wire) Subscribe(ctx context.Context, topic string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c := make(chan []byte, 1000)
		w.mu.Lock()
		if w.to == nil {
			w.to = make(map[string][]chan []byte)
		}
		w.to[topic] = append(w.to[topic], c)
		w.mu.Unlock()
		for {
			select {
			case m := <-c:
				if !yield(m, nil) {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// text is what the model of these tests writes, in ten seconds.
var text = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 " +
	"40 41 42 43 44 45 46 47 48 49"

// overBus returns two hubs over a store. The first one has the model.
func overBus(t *testing.T, bus live.Bus) (one, two *live.Hub) {
	store := &journal.MapStore{}
	long := providertest.Slow(200*time.Millisecond, providertest.Say(text))
	one = newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}, long, long), Bus: bus, Recover: -1})
	two = newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Bus: bus, Recover: -1})
	return one, two
}

func TestABusCarriesTheTextToTheReadersOfOtherHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := overBus(t, &wire{})
		var readers []func()
		pages := make([]*page, 24)
		run := start(t, one)
		for i := range pages {
			readers = append(readers, func() {
				time.Sleep(time.Duration(i) * 400 * time.Millisecond)
				if i%2 == 0 { // those come again, and the others wait for the first of them
					watch(t, two, run.After, func(p *page) bool { return len(p.all) > 5 })
				}
				pages[i] = watch(t, two, run.After, nil)
			})
		}
		together(readers...)
		facts := allFacts(t, one.Agent())
		shown := 0
		for i, p := range pages {
			require.Equal(t, facts, p.facts, "reader %d", i)
			if p.whole[0] != "" {
				require.Equal(t, text, p.whole[0], "reader %d", i)
				shown++
			}
		}
		require.GreaterOrEqual(t, shown, len(pages)-2, "all but those who came when it was nearly complete")

		// The next run, for a reader who is there before it begins; and the session's own hub.
		var next *page
		together(func() { next = watch(t, two, uint64(len(facts)), nil) }, func() {
			time.Sleep(3 * time.Second)
			_, err := one.Start(t.Context(), agent.Input{Session: "s", Prompt: "again"})
			require.NoError(t, err)
		})
		require.Equal(t, text, next.whole[0])
		require.Greater(t, len(next.all), 50, "piece by piece")
	})
}

// What is shown of a reply is always a beginning of it, whatever is lost.
func TestABusMayLoseMessages(t *testing.T) {
	for _, every := range []int{2, 3, 5, 7, 11} {
		synctest.Test(t, func(t *testing.T) {
			one, two := overBus(t, &wire{loses: func(n int) bool { return n%every == 0 }})
			run := start(t, one)
			most := 0
			p := watch(t, two, run.After, func(p *page) bool {
				if !p.ended() && len(p.whole) == 0 {
					require.True(t, strings.HasPrefix(text, p.text()), "%q", p.text())
					most = max(most, len(p.text()))
				}
				return false
			})
			require.Equal(t, allFacts(t, one.Agent()), p.facts)
			require.Positive(t, most)
		})
	}
}

func TestARunWhoseMessagesEndGoesOnInTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := overBus(t, &wire{loses: func(n int) bool { return n > 10 }})
		run := start(t, one)
		p := watch(t, two, run.After, nil)
		require.Equal(t, allFacts(t, one.Agent()), p.facts)
	})
}

// A brokenBus fails in every way.
type brokenBus struct{ n int }

func (d *brokenBus) Publish(context.Context, string, []byte) error {
	if d.n++; d.n%2 == 0 {
		panic("the bus is broken")
	}
	return errors.New("the bus is down")
}

func (d *brokenBus) Subscribe(context.Context, string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, m := range []string{"", "null", "[]", `{"number":-1}`, `{"from":"x","number":9,"seq":99,"notes":[1,"x",{}]}`} {
			if !yield([]byte(m), nil) {
				return
			}
		}
		panic("the bus is broken")
	}
}

func TestABusThatFailsStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := overBus(t, &brokenBus{})
		run := start(t, one)
		require.Equal(t, watch(t, one, run.After, nil).facts, allFacts(t, one.Agent()))
		require.Equal(t, watch(t, two, run.After, nil).facts, allFacts(t, one.Agent()))
	})
}

// A run that ends without an event doesn't keep the hub from closing.
func TestAHubClosesAfterAHookHasEndedItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exit := func(context.Context, *agent.Result) error {
			runtime.Goexit()
			return nil
		}
		a := newAgent(t, agent.Config{Hooks: []agent.Hooks{{Name: "h", BeforeFinish: exit}}},
			providertest.Slow(time.Second, providertest.Say("x")))
		h := newHub(t, live.Config{Agent: a, Bus: &wire{}, Recover: -1})
		start(t, h)
		time.Sleep(time.Minute)
		require.NoError(t, h.Close())
	})
}

// When the bus is back after an outage, nothing is shown twice.
func TestNothingIsShownTwiceAfterAnOutageOfTheBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := overBus(t, &wire{loses: func(n int) bool { return n > 20 && n < 260 }})
		run := start(t, one)
		p := watch(t, two, run.After, func(p *page) bool {
			if !p.ended() && len(p.whole) == 0 {
				require.True(t, strings.HasPrefix(text, p.text()), "%q", p.text())
			}
			return false
		})
		require.Equal(t, allFacts(t, one.Agent()), p.facts)
	})
}

func TestABusMayRepeatMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := overBus(t, &wire{twice: true})
		run := start(t, one)
		p := watch(t, two, run.After, nil)
		require.Equal(t, allFacts(t, one.Agent()), p.facts)
		require.Equal(t, text, p.whole[0])
	})
}

// A reader who comes when the last one has just left gets the reply from its beginning.
func TestAReaderMayFollowTheLastOneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := overBus(t, &wire{})
		run := start(t, one)
		watch(t, two, run.After, func(p *page) bool { return len(p.text()) > 20 })
		var second, third *page
		together(func() { second = watch(t, two, run.After, nil) }, func() {
			time.Sleep(300 * time.Millisecond)
			third = watch(t, two, run.After, nil)
		})
		require.Equal(t, text, second.whole[0])
		require.Equal(t, text, third.whole[0])
	})
}
