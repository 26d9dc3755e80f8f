package report

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// Name is that of the agent.
const Name = "reporter"

// Config is what [New] needs.
type Config struct {
	Journal journal.Store
	Ledger  *ledger.Ledger
	Worker  int           // whose process this is; 0: one that drives no runs
	Pace    float64       // multiplies how long calls take; 0: they take no time
	Lease   time.Duration // see agent.Config
}

// labelReport is the label with the session of the report, which subagents' calls have, too.
const labelReport = "report"

// Attempts is how often a run is tried whose model calls fail for a reason that may pass.
const Attempts = 3

// Input is the input for a report. A repeated key is refused with [agent.ErrDuplicate].
func Input(session, topic, key string) agent.Input {
	if key == "" {
		key = "first"
	}
	return agent.Input{Session: session, Prompt: "Write a report about " + topic + ".", Title: topic, Key: key,
		Labels: map[string]string{labelReport: session}}
}

// New returns the agent.
func New(cfg Config) (*agent.Agent, error) {
	k := &kit{cfg}
	model := providertest.Func(k.reply)
	researcher, err := agent.New(agent.Config{Name: "researcher", Provider: model,
		Instructions: "Answer the question with what you find.", Tools: []tools.Tool{k.search()}, Lease: cfg.Lease})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{Name: Name, Provider: model, Journal: cfg.Journal, Lease: cfg.Lease,
		Instructions: "Write the report that is asked for. Have it approved before others see it.",
		Tools: []tools.Tool{k.outline(), agent.AsTool(researcher, tools.Spec{Name: toolResearch, ParallelSafe: true,
			Description: "Finds out what is known about a question."}),
			k.draft(), k.figures(), k.assemble(), k.publish()}})
}

// Expected returns how many effects a completed run should have had: the six steps, of which
// research has three, without the publication if a person has rejected it.
func Expected(r *agent.Result) int {
	if p := r.ToolResult(toolPublish); p == nil || p.Error {
		return 7
	}
	return 8
}

// Ended records the end of a run, and whether all of its effects are there.
func Ended(ctx context.Context, l *ledger.Ledger, r *agent.Result) error {
	missing := 0
	if r.Status == agent.Completed {
		_, n, err := l.EffectsOf(ctx, r.Session)
		if err != nil {
			return err
		}
		missing = max(0, Expected(r)-n)
	}
	return l.End(ctx, r.Session, r.Start, string(r.Status), missing)
}

// A kit has what the tools and the model share.
type kit struct{ Config }

// random returns a number from 0 up to 1 that depends on what it is for alone.
func random(of ...any) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q", fmt.Sprint(of...))
	x := h.Sum64()
	x ^= x >> 33 // FNV spreads its last bytes badly
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// wait waits between the shortest and the longest time, or until ctx ends.
func (k *kit) wait(ctx context.Context, shortest, longest time.Duration, of ...any) error {
	d := time.Duration(float64(shortest+time.Duration(random(of...)*float64(longest-shortest))) * k.Pace)
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
