package observe

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
)

// An Alert is a rule whose condition holds, or has held.
type Alert struct {
	Rule     string    `json:"rule"`
	Severity string    `json:"severity"` // critical, high or warning
	Action   string    `json:"action"`
	Detail   string    `json:"detail"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until,omitzero"` // when it ended
}

// interval is how often the rules are evaluated.
const interval = 30 * time.Second

// stalled is how long a pipeline may stay in a status.
const stalled = 10 * time.Minute

// kept is how many past alerts are shown.
const kept = 50

// A rateRule is a rule about a rate: it holds while more than limit of what ended within the window
// was bad, and at least two were.
type rateRule struct {
	name, severity, action string
	of                     string // begins what it is about
	window                 time.Duration
	limit                  float64
}

// An ended is a request, a pipeline, or a call of a provider that has ended.
type ended struct {
	what string // requests, pipelines, or calls and the provider
	at   time.Time
	bad  bool
}

// rated is how long what has ended counts.
const rated = 10 * time.Minute

// rate counts something that ended now.
func (o *Observer) rate(what string, bad bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	old := func(e ended) bool { return now.Sub(e.at) > rated }
	o.ended = append(slices.DeleteFunc(o.ended, old), ended{what, now, bad})
}

var rateRules = []rateRule{
	{"error rate", "critical", "page someone", "requests", 5 * time.Minute, 0.05},
	{"provider errors", "critical", "fail over to another provider", "calls", 2 * time.Minute, 0.50},
	{"rollback rate", "high", "investigate", "pipelines", 10 * time.Minute, 0.10},
}

// Watch evaluates the rules each 30 seconds, and deletes what is old each day, until ctx ends. used
// returns which part of a user's monthly tokens is used.
func (o *Observer) Watch(ctx context.Context, s *assistant.Services, used func(user string) float64) {
	var swept time.Time
	for tick := time.NewTicker(interval); ; {
		if err := o.Evaluate(ctx, s, used); err != nil && ctx.Err() == nil {
			o.cfg.Logger.ErrorContext(ctx, "alerts can't be evaluated", "component", "observe", "error", err)
		}
		if time.Since(swept) >= 24*time.Hour {
			swept = time.Now()
			if err := o.Retain(ctx, s); err != nil && ctx.Err() == nil {
				o.cfg.Logger.ErrorContext(ctx, "old traces can't be deleted", "component", "observe", "error", err)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return
		}
	}
}

// Evaluate evaluates all rules.
func (o *Observer) Evaluate(ctx context.Context, s *assistant.Services, used func(user string) float64) error {
	for _, r := range rateRules {
		o.set(ctx, Alert{Rule: r.name, Severity: r.severity, Action: r.action, Detail: o.exceeds(r)})
	}
	n, err := s.CountPipelines(ctx, time.Now().Add(-stalled))
	if err != nil {
		return err
	}
	detail := ""
	if len(n.Stalled) > 0 {
		detail = fmt.Sprintf("%d without a step for %.0f minutes, the first is trace %s", len(n.Stalled),
			stalled.Minutes(),
			n.Stalled[0])
	}
	o.set(ctx, Alert{Rule: "pipeline stuck", Severity: "high", Action: "investigate", Detail: detail})
	users, err := s.Store.Users(ctx)
	detail = ""
	for _, u := range users {
		if part := used(u.ID); part > 0.9 {
			detail += fmt.Sprintf("%s has used %.0f %%. ", o.hash(u.ID), 100*part)
		}
	}
	o.set(ctx, Alert{Rule: "tokens", Severity: "warning", Action: "notify", Detail: detail})
	return err
}

// exceeds says where a rate is above its limit; empty: nowhere.
func (o *Observer) exceeds(r rateRule) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	bad, all := map[string]int{}, map[string]int{}
	for _, e := range o.ended {
		if strings.HasPrefix(e.what, r.of) && time.Since(e.at) < r.window {
			if all[e.what]++; e.bad {
				bad[e.what]++
			}
		}
	}
	var found []string
	for _, what := range slices.Sorted(maps.Keys(bad)) {
		if n := bad[what]; n >= 2 && float64(n) > r.limit*float64(all[what]) {
			found = append(found, fmt.Sprintf("%d of %d %s failed in the last %.0f minutes", n, all[what], what,
				r.window.Minutes()))
		}
	}
	return strings.Join(found, "; ")
}

// set starts, updates or ends the alert of a rule, and logs its start and its end. An alert is on
// while it has a detail.
func (o *Observer) set(ctx context.Context, a Alert) {
	o.mu.Lock()
	defer o.mu.Unlock()
	on := o.alerts[a.Rule]
	switch {
	case on != nil && a.Detail != "":
		on.Detail = a.Detail
	case on != nil:
		on.Until = time.Now()
		o.past = append([]Alert{*on}, o.past[:min(len(o.past), kept-1)]...)
		delete(o.alerts, a.Rule)
		o.count("alert", a.Rule, -1)
		o.cfg.Logger.InfoContext(ctx, "alert ended", "component", "observe", "rule", a.Rule)
	case a.Detail != "":
		a.Since = time.Now()
		o.alerts[a.Rule] = &a
		o.count("alert", a.Rule, 1)
		level := map[string]slog.Level{"critical": slog.LevelError}[a.Severity] // others are warnings
		o.cfg.Logger.Log(ctx, max(level, slog.LevelWarn), "alert", "component", "observe", "rule", a.Rule, "severity",
			a.Severity, "detail", a.Detail, "action", a.Action)
	}
}

// Alerts returns the alerts that are on, and then the last 50 that are over, newest first.
func (o *Observer) Alerts() []Alert {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := []Alert{}
	for _, a := range o.alerts {
		all = append(all, *a)
	}
	slices.SortFunc(all, func(a, b Alert) int { return b.Since.Compare(a.Since) })
	return append(all, o.past...)
}
