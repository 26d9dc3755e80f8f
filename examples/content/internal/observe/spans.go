package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// noSpans are calls without spans: what they run has some, or they are the answer.
var noSpans = []string{assistant.RunSteps, assistant.ContinueWork, contenttools.StructuredResponse}

// A Span is a tool call of a trace, made from the facts of its session.
type Span struct {
	TraceID       string            `json:"traceId"`
	SpanID        string            `json:"spanId"` // span-001, … in the order of their starts
	OperationName string            `json:"operationName"`
	StartTime     time.Time         `json:"startTime"`
	Duration      int64             `json:"duration"` // ms
	Status        string            `json:"status"`   // ok or error
	Tags          map[string]string `json:"tags"`
	Logs          []Log             `json:"logs"`
	Category      string            `json:"category,omitempty"` // of its error
}

// A Log is a line of a [Span].
type Log struct {
	Timestamp time.Time `json:"timestamp"`
	Message   string    `json:"message"`
	Level     string    `json:"level"`
}

// known are the spans of a session up to a fact.
type known struct {
	seq   uint64
	spans []Span
}

// spans returns those that began within a time before now, the oldest first. Sessions that have
// nothing new aren't read again.
func (o *Observer) spans(ctx context.Context, s *assistant.Services, within time.Duration) (all []Span, err error) {
	all = []Span{}
	o.mu.Lock()
	defer o.mu.Unlock()
	now, next := time.Now(), map[string]known{}
	for head, err := range s.Journal.Heads(ctx, journal.Filter{NoKind: true, Newest: true}) {
		if err != nil {
			return nil, err
		}
		if head.Updated.Before(now.Add(-traceDays)) {
			break
		}
		k := o.known[head.Session]
		if k.seq != head.Seq {
			facts, err := s.Agent.Session(head.Session).Facts(ctx)
			if err != nil && !errors.Is(err, journal.ErrNoSession) { // that was deleted
				return nil, err
			}
			k = known{head.Seq, o.spansOf(facts)}
		}
		next[head.Session] = k
		for _, span := range k.spans {
			if span.StartTime.After(now.Add(-within)) {
				all = append(all, span)
			}
		}
	}
	o.known = next
	slices.SortStableFunc(all, func(a, b Span) int { return a.StartTime.Compare(b.StartTime) })
	return all, nil
}

// spansOf returns a span for each tool call that has ended.
func (o *Observer) spansOf(facts []agent.Fact) (all []Span) {
	user := ""
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			user = o.hash(f.Caller.User)
		case *agent.ToolFinished:
			if slices.Contains(noSpans, f.Call.Name) {
				continue // what they run has spans
			}
			s := Span{TraceID: f.Origin.Labels.Get("trace"), OperationName: f.Call.Name, StartTime: f.Time.Add(-f.Took),
				Duration: f.Took.Milliseconds(), Status: "ok", Logs: []Log{},
				Tags: map[string]string{"content_agent.tool": f.Call.Name, "content_agent.user_id": user}}
			var in struct{ ArtifactID string }
			if json.Unmarshal(f.Call.Input, &in) == nil && in.ArtifactID != "" {
				s.Tags["content_agent.artifact_id"] = in.ArtifactID
			}
			var e contenttools.Envelope
			if json.Unmarshal([]byte(f.Result.Text()), &e) == nil && e.StatusTransition != nil {
				s.Tags["content_agent.status_transition"] = string(e.StatusTransition.From) + " → " +
					string(e.StatusTransition.To)
			}
			if !f.Result.Status.Good() {
				p := contenttools.Problem{Category: portfolio.ToolExecutionFailed, Message: fmt.Sprint(f.Result.Status)}
				if e.Error != nil {
					p = *e.Error
				}
				s.Status, s.Category = "error", string(p.Category)
				s.Logs = append(s.Logs, Log{f.Time, s.Category + ": " + p.Message, "ERROR"})
			}
			all = append(all, s)
		}
	}
	return all
}

// Trace returns the spans of a trace of the last 7 days; of all if it is empty.
func (o *Observer) Trace(ctx context.Context, s *assistant.Services, trace string) ([]Span, error) {
	all, err := o.spans(ctx, s, traceDays)
	all = slices.DeleteFunc(all, func(s Span) bool { return trace != "" && s.TraceID != trace })
	for i := range all {
		all[i].SpanID = fmt.Sprintf("span-%03d", i+1)
	}
	return all, err
}

// A Dashboard is what the page of administrators shows of the last 24 hours.
type Dashboard struct {
	Pipelines assistant.PipelineCounts `json:"pipelines"`
	Spans     []Span                   `json:"spans"`  // the oldest first
	Tokens    []Quota                  `json:"tokens"` // of this month
}

// A Quota is what a user has used of the tokens of the month.
type Quota struct {
	User string  `json:"user"` // hashed
	Plan string  `json:"plan"`
	Used float64 `json:"used"` // from 0 to 1
}

// Dashboard returns the figures of the last 24 hours.
func (o *Observer) Dashboard(ctx context.Context, s *assistant.Services,
	used func(user string) float64) (d Dashboard, err error) {
	const day = 24 * time.Hour
	var errs [3]error
	d.Pipelines, errs[0] = s.CountPipelines(ctx, time.Now().Add(-day))
	d.Spans, errs[1] = o.spans(ctx, s, day)
	users, failed := s.Store.Users(ctx)
	for _, u := range users {
		d.Tokens = append(d.Tokens, Quota{o.hash(u.ID), u.Plan, used(u.ID)})
	}
	errs[2] = failed
	return d, errors.Join(errs[:]...)
}

// The times of retention.
const (
	traceDays = 7 * 24 * time.Hour
	keptDays  = 30 * 24 * time.Hour
)

// Retain deletes the completed sessions and the logs of completed pipelines that nobody has used
// for 30 days.
func (o *Observer) Retain(ctx context.Context, s *assistant.Services) error {
	_, err := s.Agent.Retain(ctx, agent.Retention{Idle: keptDays})
	for head, failed := range s.Journal.Heads(ctx,
		journal.Filter{Prefix: contenttools.PipelinePrefix, Kind: "plan", Status: string(plan.Completed)}) {
		if failed == nil && time.Since(head.Updated) > keptDays {
			failed = s.Runner.Delete(ctx, head.Session)
		}
		err = errors.Join(err, failed)
	}
	return err
}
