package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/tools"
)

type pair struct {
	A int `json:"a"`
	B int `json:"b"`
}

func add(_ context.Context, in pair) (pair, error) { return pair{A: in.A + in.B}, nil }

// path takes one call all the way.
func path(tb testing.TB, policies ...tools.Policy) func() {
	reg := registry(tb, tools.New(tools.Spec{Name: "add"}, add))
	c := new(tools.Call)
	ctx, input := tb.Context(), json.RawMessage(`{"a":1,"b":2}`)
	return func() {
		*c = tools.Call{Name: "add", Input: input}
		adm, err := reg.Admit(ctx, c, nil, nil, policies)
		if err != nil || adm.Rejected != nil || reg.Recheck(ctx, c, policies) != nil {
			tb.Fatal("the call isn't admitted")
		}
		if out := tools.Execute(ctx, adm.Definition, c, nil); out.Status != tools.OK {
			tb.Fatal(out.Err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	call := path(b)
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}

func BenchmarkCallWithAPolicy(b *testing.B) {
	call := path(b, func(context.Context, *tools.Definition, *tools.Call) tools.Verdict { return tools.Verdict{} })
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}

// BenchmarkExecute is a quick call with and without a breaker that is closed, BenchmarkPass what
// the breaker takes of it.
func BenchmarkExecute(b *testing.B) {
	for name, set := range map[string]*circuit.Set{"no breaker": nil,
		"a closed breaker": circuit.NewSet(circuit.Tool())} {
		b.Run(name, func(b *testing.B) {
			d := define(b,
				raw(tools.Spec{}, func(context.Context) (tools.Result, error) { return tools.Result{}, nil }))
			c := approve(b, d, &tools.Call{Input: json.RawMessage(`{}`)})
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				var p tools.Pass
				require.Nil(b, p.Take(d, set))
				tools.Execute(ctx, d, c, &p)
			}
		})
	}
}

func BenchmarkPass(b *testing.B) {
	set := circuit.NewSet(circuit.Tool())
	d := define(b, raw(tools.Spec{}, func(context.Context) (tools.Result, error) { return tools.Result{}, nil }))
	one := func(p *tools.Pass) {
		if p.Take(d, set) == nil {
			p.Done(nil)
			p.Cancel()
		}
	}
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		var p tools.Pass
		for b.Loop() {
			one(&p)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			var p tools.Pass
			for pb.Next() {
				one(&p)
			}
		})
	})
}

func BenchmarkCallThatWatchesItsContext(b *testing.B) {
	reg := registry(b, tools.New(tools.Spec{Name: "add"}, func(ctx context.Context, in pair) (pair, error) {
		sub, stop := context.WithCancel(ctx)
		defer stop()
		return pair{A: in.A + in.B}, sub.Err()
	}))
	d := reg.All()[0]
	c := approve(b, d, &tools.Call{Input: json.RawMessage(`{"a":1,"b":2}`)})
	b.ReportAllocs()
	for b.Loop() {
		tools.Execute(b.Context(), d, c, nil)
	}
}

func BenchmarkCut(b *testing.B) {
	for name, in := range map[string]string{
		"lines":     strings.Repeat("INFO 2026-11-21 09:20:00 request served in 12 ms\n", 10<<20/49),
		"important": strings.Repeat("warning: 2026-11-21 09:20:00 request was slow\n", 10<<20/46),
		"one line":  strings.Repeat("x", 10<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				tools.Cut(in, tools.DefaultMaxResult)
			}
		})
	}
}

func TestWhatACallAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	call := path(t)
	require.LessOrEqual(t, testing.AllocsPerRun(200, call), 18.0)

	refused := registry(t, tools.New(tools.Spec{Name: "add"}, add))
	c := &tools.Call{Name: "add", Input: json.RawMessage(`{"a":1,"b":2}`)}
	require.Zero(t, testing.AllocsPerRun(200, func() {
		if a, err := refused.Admit(t.Context(), c, nil, nil, nil); err != nil || a.Rejected != nil ||
			refused.Recheck(t.Context(), c, nil) != nil {
			t.Fatal("the call isn't admitted")
		}
	}), "to admit canonical input")
}
