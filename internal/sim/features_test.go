package sim

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/tools"
)

// features are what agents may have besides.
var features = []string{
	"memory", // compactions and context resets
	"hooks",
	"source", // of tools that change
	"tell",   // the model reads about calls in doubt, and nobody is asked
}

// addFeatures adds to a Config what the program says.
func (p *process) addFeatures(cfg *agent.Config) {
	cfg.Modes = []agent.Mode{{Name: "one"}, {Name: "two", Instructions: "Be brief."}}
	if p.program.has("memory") {
		cfg.Memory = p.memory()
	}
	if p.program.has("hooks") {
		cfg.Hooks = []agent.Hooks{p.hooks()}
	}
	if p.program.has("source") {
		cfg.Sources = []tools.Source{shelf{p}}
	}
	if p.program.has("tell") {
		cfg.InDoubt = agent.TellInDoubt
	}
}

// memory compacts conversations of more than a few messages, and resets a context now and then.
func (p *process) memory() *agent.Memory {
	m := &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 1_500, Reserve: 100},
		Steps: []memory.Step{{Strategy: memory.Slide{}}}}}
	if p.program.seed%2 == 0 {
		m.ContextReset = &notes.ContextReset{At: .6,
			Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
				key, n := p.count("note")
				err := p.wait(ctx, 1+p.within(time.Second, p.name, key, n))
				return notes.ResetNote{Done: []string{fmt.Sprint("part ", in.Index)}}, err
			}}
	}
	return m
}

// spans counts the spans of a process that have begun and not ended.
type spans struct{ open atomic.Int64 }

// hooks change little, and count what begins and ends.
func (p *process) hooks() agent.Hooks {
	return agent.Hooks{Name: "sim",
		Around: func(ctx context.Context, _ *agent.Span) (context.Context, func(error)) {
			p.spans.open.Add(1)
			return ctx, func(error) { p.spans.open.Add(-1) }
		},
		BeforeStep: func(ctx context.Context, s *agent.Step) error {
			key, n := p.count("hook")
			return p.wait(ctx, 1+p.within(10*time.Millisecond, p.name, key, n))
		},
		BeforeFinish: func(_ context.Context, r *agent.Result) error {
			if p.draw(r.Run)%4 == 0 {
				return agent.SendBack("Say more.")
			}
			return nil
		},
		AfterTool: func(_ context.Context, c *agent.ToolCall, _ *agent.ToolResult) error {
			if p.draw(c.ID)%8 == 0 {
				return agent.Warn("careful")
			}
			return nil
		},
	}
}

// A shelf is a source of which two tools of three are there at a time.
type shelf struct{ p *process }

// Name implements [tools.Source].
func (s shelf) Name() string { return "shelf" }

// List implements [tools.Source].
func (s shelf) List(ctx context.Context) ([]tools.Tool, error) {
	key, n := s.p.count("list")
	if err := s.p.wait(ctx, 1+s.p.within(10*time.Millisecond, s.p.name, key, n)); err != nil {
		return nil, err
	}
	s.p.world.mu.Lock()
	version := s.p.version
	s.p.world.mu.Unlock()
	var list []tools.Tool
	for i := range 2 {
		list = append(list, tools.New(tools.Spec{Name: fmt.Sprint("item", (version+i)%3), ParallelSafe: true},
			func(ctx context.Context, in order) (string, error) { return s.p.work(ctx, in.N, nil) }))
	}
	return list, nil
}

// Changed implements [tools.Source].
func (s shelf) Changed() <-chan struct{} { return nil }

// load changes what is on the shelf, and loads it.
func (p *process) load(ctx context.Context, in order) (string, error) {
	if err := p.pass(ctx, in.N); err != nil {
		return "", err
	}
	p.world.mu.Lock()
	if !p.dead() {
		p.version++
	}
	p.world.mu.Unlock()
	return "loaded", agent.LoadTools(ctx)
}
