package observe

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
)

// A Span is a tool call of a trace; see [Observer.Trace].
type Span struct {
	TraceID       string            `json:"traceId"`
	SpanID        string            `json:"spanId"` // span-001, … in the order of their starts
	OperationName string            `json:"operationName"`
	StartTime     time.Time         `json:"startTime"`
	Duration      int64             `json:"duration"` // ms
	Status        string            `json:"status"`   // ok or error
	Tags          map[string]string `json:"tags"`
	Logs          []Log             `json:"logs"`
}

// A Log is a line of a [Span].
type Log struct {
	Timestamp time.Time `json:"timestamp"`
	Message   string    `json:"message"`
	Level     string    `json:"level"`
}

// Trace returns the spans of a trace, made from the facts in the journal. A trace of more than 7
// days ago has none.
func (o *Observer) Trace(ctx context.Context, a *agent.Agent, trace string) ([]Span, error) {
	type run struct{ session, id, user string }
	runs, err := query(ctx, o.db, func(r *sql.Rows) (v run, err error) {
		return v, r.Scan(&v.session, &v.id, &v.user)
	}, "SELECT DISTINCT session, run, user FROM tool_calls WHERE trace = ? AND at >= ?", trace,
		o.cfg.Now().Add(-traceDays).UnixMilli())
	if err != nil {
		return nil, err
	}
	spans := []Span{}
	for _, r := range runs {
		facts, err := a.Session(r.session).Facts(ctx)
		if errors.Is(err, journal.ErrNoSession) {
			continue // it was deleted
		}
		if err != nil {
			return nil, fmt.Errorf("observe: trace %s: %w", trace, err)
		}
		for _, s := range spansOf(facts, r.id) {
			s.TraceID = trace
			s.Tags["content_agent.user_id"] = r.user
			spans = append(spans, s)
		}
	}
	slices.SortStableFunc(spans, func(a, b Span) int { return a.StartTime.Compare(b.StartTime) })
	for i := range spans {
		spans[i].SpanID = fmt.Sprintf("span-%03d", i+1)
	}
	return spans, nil
}

// spansOf returns a span for each tool call of a run that has ended.
func spansOf(facts []agent.Fact, run string) (all []Span) {
	started := map[string]time.Time{}
	for _, f := range facts {
		if f.Envelope().Run() != run {
			continue
		}
		switch f := f.(type) {
		case *agent.ToolStarted:
			if _, again := started[f.Call.ID]; !again {
				started[f.Call.ID] = f.Time
			}
		case *agent.ToolFinished:
			s := Span{OperationName: f.Call.Name, StartTime: f.Time, Status: "ok",
				Tags: map[string]string{"content_agent.tool": f.Call.Name}, Logs: []Log{}}
			if id := artifactOf(f.Call.Input); id != "" {
				s.Tags["content_agent.artifact_id"] = id
			}
			if at, ok := started[f.Call.ID]; ok {
				s.StartTime, s.Duration = at, f.Time.Sub(at).Milliseconds()
			}
			if !f.Result.Status.Good() {
				s.Status = "error"
				s.Logs = append(s.Logs, Log{f.Time, string(categoryOf(f.Result)) + ": " + messageOf(f.Result), "ERROR"})
			}
			var e contenttools.Envelope
			if json.Unmarshal([]byte(f.Result.Text()), &e) == nil && e.StatusTransition != nil {
				s.Tags["content_agent.status_transition"] = string(e.StatusTransition.From) + " → " +
					string(e.StatusTransition.To)
			}
			all = append(all, s)
		}
	}
	return all
}

// artifactOf returns the id of the artifact in the input of a call; empty if there is none.
func artifactOf(input []byte) string {
	var in struct {
		ArtifactID string `json:"artifactId"`
	}
	_ = json.Unmarshal(input, &in) // what isn't an object has none
	return in.ArtifactID
}

// messageOf returns why a call failed, in at most 100 characters if the tool didn't say it in its
// envelope.
func messageOf(r *agent.ToolResult) string {
	if p, ok := contenttools.ReadFailure(r.Text()); ok {
		return p.Message
	}
	text := []rune(r.Text())
	return string(text[:min(len(text), 100)])
}

// A Summary is a line of the list of traces.
type Summary struct {
	TraceID  string    `json:"traceId"`
	Tools    int       `json:"tools"`
	Failed   int       `json:"failed"`
	First    string    `json:"first"` // its first tool
	Started  time.Time `json:"startedAt"`
	Duration int64     `json:"duration"` // ms
}

// Traces returns the newest traces.
func (o *Observer) Traces(ctx context.Context, limit int) ([]Summary, error) {
	all, err := query(ctx, o.db, func(r *sql.Rows) (s Summary, err error) {
		var at, until int64
		err = r.Scan(&s.TraceID, &s.Tools, &s.Failed, &at, &until, &s.First)
		s.Started, s.Duration = time.UnixMilli(at).UTC(), until-at
		return s, err
	},
		`SELECT trace, count(*), sum(category != ''), min(at), max(at + ms), (SELECT tool FROM tool_calls f WHERE f.trace = c.trace ORDER BY at, id LIMIT 1)
		FROM tool_calls c WHERE trace != '' AND at >= ? GROUP BY trace ORDER BY max(id) DESC LIMIT ?`,
		o.cfg.Now().Add(-traceDays).UnixMilli(), limit)
	if all == nil {
		all = []Summary{}
	}
	return all, err
}
