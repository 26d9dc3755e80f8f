package loop

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// model is the fake model. It knows its place by the results in the request.
type model struct {
	shape  Shape
	counts *Counts
	call   []provider.Chunk
	text   []provider.Chunk
}

// EndsWithContext returns true: an answer is at hand and never waits.
func (m *model) EndsWithContext() bool { return true }

// NewModel returns the fake model for Pawl, which counts its calls. It declares that its calls end
// with their context ([provider.EndsWithContext]).
func NewModel(s Shape, counts *Counts) provider.Provider {
	m := &model{shape: s, counts: counts}
	m.call = append(m.call, provider.Start("fake"))
	for c := range s.Calls {
		m.call = append(m.call, provider.ToolStart(c, fmt.Sprintf("call-%d", c), "add"))
		for _, d := range Deltas {
			m.call = append(m.call, provider.ToolDelta(c, d))
		}
		m.call = append(m.call, provider.ToolEnd(c))
	}
	m.call = append(m.call, provider.End(provider.StopToolCalls, provider.Usage{Input: 10, Output: 10}))
	m.text = append(m.text, provider.Start("fake"))
	for range s.Text {
		m.text = append(m.text, provider.Text(Chunk))
	}
	m.text = append(m.text, provider.End(provider.StopDone, provider.Usage{Input: 10, Output: 10}))
	return m
}

// Stream answers with the calls of a step, or with text after the last one.
func (m *model) Stream(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	m.counts.Models.Add(1)
	answer := m.text
	if len(req.Messages) < 1+2*m.shape.Steps {
		answer = m.call
	}
	return func(yield func(provider.Chunk, error) bool) {
		for _, c := range answer {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// NewPawl returns what runs the shape by Pawl's loop, and counts. Every event is read.
func NewPawl(s Shape, counts *Counts) (Run, error) { return newPawl(s, counts, NewModel(s, counts)) }

// NewPawlUndeclared is NewPawl with a model that doesn't declare that its calls end with their
// context, so that each gets a goroutine of its own.
func NewPawlUndeclared(s Shape, counts *Counts) (Run, error) {
	return newPawl(s, counts, provider.Func(NewModel(s, counts).Stream))
}

func newPawl(s Shape, counts *Counts, model provider.Provider) (Run, error) {
	add := tools.New(tools.Spec{Name: "add", Description: "Adds two numbers.", Inline: true},
		func(_ context.Context, in Numbers) (Sum, error) {
			counts.Tools.Add(1)
			return Sum{in.A + in.B}, nil
		})
	a, err := agent.New(agent.Config{
		Provider:     model,
		Instructions: System,
		Tools:        []tools.Tool{add},
		Limits:       agent.Limits{Steps: s.Steps + 1, Repeats: -1, Tokens: -1},
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) {
		n := 0
		for ev, err := range a.Stream(ctx, agent.Input{Prompt: Prompt}) {
			if err != nil {
				return n, err
			}
			switch ev := ev.(type) {
			case *agent.TextDelta:
				n += len(ev.Text)
			case *agent.RunEnded:
				if ev.Status != agent.Completed {
					return n, ev.Result.Err()
				}
			}
		}
		return n, nil
	}, nil
}
