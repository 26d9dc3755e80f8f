package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// BenchmarkNext asks what comes next in a plan of 200 nodes, half of them done.
func BenchmarkNext(b *testing.B) {
	p := Plan{Title: "x", Version: 1}
	for i := range maxNodes {
		n := Node{ID: fmt.Sprint("n", i)}
		for j := max(i-4, 0); j < i; j++ {
			n.After = append(n.After, fmt.Sprint("n", j))
		}
		p.Nodes = append(p.Nodes, n)
	}
	m := &State{Run: "p"}
	apply := func(f fact) {
		if err := m.add(stamp(f, Meta{Seq: m.Seq + 1, Time: began})); err != nil {
			b.Fatal(err)
		}
	}
	apply(&proposed{Plans: []proposal{{Plan: p}}})
	for i := range maxNodes / 2 {
		id := fmt.Sprint("n", i)
		apply(&NodeStarted{Node: id, Attempt: 1, Round: 1, Key: id})
		apply(&NodeEnded{Node: id, Attempt: 1, Round: 1})
	}
	b.ReportAllocs()
	for b.Loop() {
		if m.next(time.Time{}).kind != actStart {
			b.Fatal("nothing starts")
		}
	}
}

// BenchmarkRun runs a plan of 50 calls over SQLite, and the same calls in a run of a model, in
// sessions of their own, and in one session.
func BenchmarkRun(b *testing.B) {
	store, err := sqlite.Open(filepath.Join(b.TempDir(), "runs.db"), sqlite.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	list := []tools.Tool{tools.New(tools.Spec{Name: "make"}, func(context.Context, item) (string, error) {
		return "{}", nil
	})}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Journal: store, Tools: list})
	if err != nil {
		b.Fatal(err)
	}
	const calls = 50
	p := &Plan{Title: "x"}
	for i := range calls {
		n := made(fmt.Sprint("n", i))
		if i > 0 {
			n.After = []string{fmt.Sprint("n", i-1)}
		}
		p.Nodes = append(p.Nodes, n)
	}
	r, err := New(Config{Agent: a})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			n++
			name := fmt.Sprint("p-", n)
			if _, err := r.Start(b.Context(), name, p); err != nil {
				b.Fatal(err)
			}
			if _, err := r.Finish(b.Context(), name); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			n++
			steps := make([]providertest.Step, 0, calls+1)
			for range calls {
				steps = append(steps, providertest.Call("make", item{Name: fmt.Sprint(len(steps))}))
			}
			one, err := agent.New(agent.Config{Provider: providertest.Script(append(steps,
				providertest.Say("Done."))...), Journal: store, Tools: list, Limits: agent.Limits{Steps: calls + 1}})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := one.Run(b.Context(), agent.Input{Session: fmt.Sprint("r-", n), Prompt: "x"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("calls", func(b *testing.B) {
		for b.Loop() {
			n++
			for i := range calls {
				if _, err := a.Session(fmt.Sprint("s-", n, "-", i)).Call(b.Context(), "make",
					item{Name: "x"}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("one session", func(b *testing.B) {
		for b.Loop() {
			n++
			for range calls {
				if _, err := a.Session(fmt.Sprint("one-", n)).Call(b.Context(), "make", item{Name: "x"}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
