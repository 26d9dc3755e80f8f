package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Hooks are those of the agent. They change nothing.
func (o *Observer) Hooks() agent.Hooks {
	return agent.Hooks{Name: "observe", Observer: true,
		BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.begun[c.Session+"\x00"+c.ID] = o.cfg.Now()
			return nil
		},
		AfterTool: func(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
			return o.keep(context.WithoutCancel(ctx), o.toolEnded(c, r))
		},
	}
}

// toolEnded counts a call that has ended, and returns its row.
func (o *Observer) toolEnded(c *agent.ToolCall, r *agent.ToolResult) toolCall {
	row := toolCall{trace: c.Labels.Get("trace"), session: c.Session, run: c.Run, user: o.hash(c.User), tool: c.Name,
		at: o.cfg.Now()}
	if !r.Status.Good() {
		row.category = string(categoryOf(r))
	}
	o.mu.Lock()
	key := c.Session + "\x00" + c.ID
	if began, ok := o.begun[key]; ok {
		row.at, row.took = began, o.cfg.Now().Sub(began)
		delete(o.begun, key)
	}
	o.mu.Unlock()
	o.metrics.tool(row)
	return row
}

// categoryOf returns the category of the error of a call.
func categoryOf(r *agent.ToolResult) portfolio.Category {
	if p, ok := contenttools.ReadFailure(r.Text()); ok {
		return p.Category
	}
	return portfolio.ToolExecutionFailed
}

// Event counts what the assistant reports; see assistant.Config.
func (o *Observer) Event(ev assistant.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.cfg.Now()
	switch name := ev.Pipeline.Name; ev.Kind {
	case assistant.RequestEnded:
		o.metrics.request(ev)
		o.rates.of("requests", "").add(now, faults[ev.Category])
	case assistant.RequestRefused:
		o.metrics.errors.WithLabelValues(string(ev.Category)).Inc()
	case assistant.PipelineStarted:
		o.metrics.started.Inc()
	case assistant.PipelineRetried:
		o.retried[name] = true
	case assistant.PipelineCompleted, assistant.PipelineFailed:
		o.metrics.pipeline(ev, o.retried[name])
		o.rates.of("pipelines", "").add(now, rolledBack(ev))
		delete(o.retried, name)
	}
}

// rolledBack reports whether a pipeline has ended with a tool that was rolled back. One that the
// status forbids has done nothing.
func rolledBack(ev assistant.Event) bool {
	return ev.Kind == assistant.PipelineFailed && ev.Category != portfolio.InvalidStatus
}

// faults are the categories of errors that aren't the user's.
var faults = map[portfolio.Category]bool{
	portfolio.ToolExecutionFailed: true, portfolio.ToolTimeout: true, portfolio.AIProviderError: true,
	portfolio.AIRateLimit: true,
}

// Calls returns the ledger of the providers of models. It counts each attempt.
func (o *Observer) Calls() *budget.Ledger {
	return budget.NewLedgerWith(budget.LedgerConfig{Keep: -1, Sink: o.modelCall})
}

func (o *Observer) modelCall(e budget.Entry) {
	o.metrics.tokens.WithLabelValues(e.Kind).Add(float64(e.Tokens()))
	o.metrics.calls.WithLabelValues(e.Provider, e.Outcome).Inc()
	if e.Outcome != budget.CallDone && e.Outcome != budget.CallFailed {
		return // it was given up by its caller
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rates.of("calls", e.Provider).add(o.cfg.Now(), e.Outcome == budget.CallFailed)
}

// hash returns the id of a user as it may be kept.
func (o *Observer) hash(user string) string { return portfolio.Hash(user, o.cfg.Salt) }

// The times of retention.
const (
	traceDays = 7 * 24 * time.Hour
	keptDays  = 30 * 24 * time.Hour
)

// Retain deletes the rows, the completed sessions and the logs of completed pipelines that nobody
// has used for 30 days.
func (o *Observer) Retain(ctx context.Context, s *assistant.Services) error {
	before := o.cfg.Now().Add(-keptDays)
	if err := o.exec(ctx, "DELETE FROM tool_calls WHERE at < ?", before.UnixMilli()); err != nil {
		return err
	}
	if _, err := s.Agent.Retain(ctx, agent.Retention{Idle: keptDays}); err != nil {
		return err
	}
	var failed error
	for head, err := range s.Journal.Heads(ctx,
		journal.Filter{Prefix: contenttools.PipelinePrefix, Kind: "plan", Status: string(plan.Completed)}) {
		if err == nil && head.Updated.Before(before) {
			err = s.Journal.Delete(ctx, head.Session, journal.All)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("observe: deleting the logs of pipelines: %w", err))
		}
	}
	return failed
}
