package live_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Number is the input of the tools in these tests.
type Number struct {
	N int `json:"n"`
}

// newAgent returns an agent with a script for a model.
func newAgent(t testing.TB, cfg agent.Config, steps ...providertest.Step) *agent.Agent {
	t.Helper()
	if cfg.Provider == nil {
		cfg.Provider = providertest.Script(steps...)
	}
	a, err := agent.New(cfg)
	require.NoError(t, err)
	return a
}

// newHub returns a hub that is closed at the end of the test.
func newHub(t testing.TB, cfg live.Config) *live.Hub {
	t.Helper()
	h, err := live.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { h.Close() })
	return h
}

func start(t testing.TB, h *live.Hub) live.Started {
	t.Helper()
	run, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	return run
}

// risky returns a tool that asks for approval, and counts its calls.
func risky(n *int) tools.Tool {
	return tools.New(tools.Spec{Name: "risky", Risk: tools.High}, func(context.Context, Number) (string, error) {
		*n++
		return "done", nil
	})
}

// A page is what a reader of events knows.
type page struct {
	all   []agent.Event
	facts []string       // as JSON
	texts map[int]string // of the model call in progress, by part
	whole []string       // what was shown of each reply when it was complete
	lost  int            // notes
}

func (p *page) add(ev agent.Event) {
	p.all = append(p.all, ev)
	if ev.Envelope().Session() != "s" {
		return
	}
	if _, ok := ev.(agent.Fact); ok {
		p.facts = append(p.facts, asJSON(ev))
	}
	switch ev := ev.(type) {
	case *agent.Lagged:
		p.texts = nil
		p.lost += ev.Notes
	case *agent.StepStarted, *agent.Reset:
		p.texts = nil
	case *agent.TextDelta:
		p.write(ev.Index, ev.Text)
	case *agent.CallDelta:
		p.write(ev.Index, ev.Text)
	case *agent.Replied:
		p.whole = append(p.whole, p.text())
	}
}

func (p *page) write(index int, text string) {
	if p.texts == nil {
		p.texts = make(map[int]string)
	}
	p.texts[index] += text
}

// text returns what is shown of the model call in progress.
func (p *page) text() string {
	var all []string
	for _, i := range slices.Sorted(maps.Keys(p.texts)) {
		all = append(all, p.texts[i])
	}
	return strings.Join(all, "|")
}

// ended reports whether the newest event is the end of a run.
func (p *page) ended() bool {
	end, ok := p.all[len(p.all)-1].(*agent.RunEnded)
	return ok && end.Session() == "s" && end.Status != agent.Paused
}

// watch reads until the end of a run, or until leave says so.
func watch(t testing.TB, h *live.Hub, after uint64, leave func(*page) bool) *page {
	p := &page{}
	for ev, err := range h.Watch(t.Context(), "s", after) {
		require.NoError(t, err)
		if p.add(ev); p.ended() || leave != nil && leave(p) {
			break
		}
	}
	return p
}

// allFacts returns the facts of the session as JSON.
func allFacts(t testing.TB, a *agent.Agent) (all []string) {
	t.Helper()
	facts, err := a.Session("s").Facts(context.Background())
	require.NoError(t, err)
	for _, f := range facts {
		all = append(all, asJSON(f))
	}
	return all
}

func asJSON(ev agent.Event) string {
	data, err := agent.MarshalEvent(ev)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// together runs functions and waits for them.
func together(fs ...func()) {
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(f)
	}
	wg.Wait()
}

// paced is a reply in two parts with a call, whose chunks come one each 10 ms.
func paced(words string) providertest.Step {
	return providertest.Slow(10*time.Millisecond, providertest.Reply(providertest.Think("hm "+words),
		providertest.Say(words), providertest.Call("work", Number{1})))
}

func work() tools.Tool {
	return tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) { return "worked", nil })
}
