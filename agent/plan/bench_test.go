package plan

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkNext asks what comes next in a plan of 200 nodes, half of them done.
func BenchmarkNext(b *testing.B) {
	p := Plan{Title: "x", Version: 1}
	for i := range MaxNodes {
		n := Node{ID: fmt.Sprint("n", i)}
		for j := max(i-4, 0); j < i; j++ {
			n.After = append(n.After, fmt.Sprint("n", j))
		}
		p.Nodes = append(p.Nodes, n)
	}
	m := New("p")
	apply := func(f Fact) {
		if err := m.Apply(f.with(Meta{Seq: m.State().Seq + 1, Time: began})); err != nil {
			b.Fatal(err)
		}
	}
	apply(Proposed{Plans: []Proposal{{Plan: p}}})
	for i := range MaxNodes / 2 {
		id := fmt.Sprint("n", i)
		apply(NodeStarted{Node: id, Attempt: 1, Round: 1, Key: id})
		apply(NodeEnded{Node: id, Attempt: 1, Round: 1})
	}
	b.ReportAllocs()
	for b.Loop() {
		if m.Next(time.Time{}).Kind != ActStart {
			b.Fatal("nothing starts")
		}
	}
}
