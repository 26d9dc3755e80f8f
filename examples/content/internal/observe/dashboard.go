package observe

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A Dashboard is what /admin shows at the top.
type Dashboard struct {
	Pipelines portfolio.PipelineCounts `json:"pipelines"` // of the last 24 hours
	Tools     []ToolUse                `json:"tools"`     // of the last 24 hours, those that were used most first
	Errors    []Count                  `json:"errors"`    // by category, of the last 24 hours, the most frequent first
	Hours     []Hour                   `json:"hours"`     // the last 24, oldest first
	Tokens    []Quota                  `json:"tokens"`    // of this month
	Active    int                      `json:"activeUsers"`
}

// A ToolUse says how often a tool was called, and how long its calls took.
type ToolUse struct {
	Tool   string `json:"tool"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
	P50    int64  `json:"p50"` // ms
	P95    int64  `json:"p95"`
	P99    int64  `json:"p99"`
}

// A Count is a number of something.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// An Hour has the calls of an hour by latency, and how many have failed.
type Hour struct {
	At     time.Time `json:"at"`
	Calls  [5]int    `json:"calls"` // below 0.1 s, 1 s, 10 s and 60 s, and longer
	Failed int       `json:"failed"`
}

// steps are the limits of Hour.Calls, in ms.
var steps = [...]int64{100, 1_000, 10_000, 60_000}

// A Quota is what a user has used of the tokens of the month.
type Quota struct {
	User string  `json:"user"` // hashed
	Plan string  `json:"plan"`
	Used float64 `json:"used"` // from 0 to 1
}

// Dashboard returns the figures of the last 24 hours.
func (o *Observer) Dashboard(ctx context.Context, s *assistant.Services, used func(user string) float64) (d Dashboard,
	err error) {
	now := o.cfg.Now()
	since := now.Add(-24 * time.Hour)
	if d.Pipelines, err = s.Store.CountPipelines(ctx, since); err != nil {
		return d, err
	}
	rows, err := query(ctx, o.db, func(r *sql.Rows) (c toolCall, err error) {
		var at, ms int64
		err = r.Scan(&c.tool, &c.category, &c.user, &at, &ms)
		c.at, c.took = time.UnixMilli(at), time.Duration(ms)*time.Millisecond
		return c, err
	}, "SELECT tool, category, user, at, ms FROM tool_calls WHERE at >= ? ORDER BY ms", since.UnixMilli())
	if err != nil {
		return d, err
	}
	d.sum(rows, now.Truncate(time.Hour).UTC())
	users, err := s.Store.Users(ctx)
	for _, u := range users {
		d.Tokens = append(d.Tokens, Quota{o.hash(u.ID), u.Plan, used(u.ID)})
	}
	return d, err
}

// sum fills in what comes from the calls, which are sorted by their latency.
func (d *Dashboard) sum(rows []toolCall, last time.Time) {
	tools, errors, users := map[string][]int64{}, map[string]int{}, map[string]bool{}
	failed := map[string]int{}
	for h := 23; h >= 0; h-- {
		d.Hours = append(d.Hours, Hour{At: last.Add(-time.Duration(h) * time.Hour)})
	}
	for _, c := range rows {
		ms := c.took.Milliseconds()
		tools[c.tool] = append(tools[c.tool], ms)
		users[c.user] = true
		hour := int(c.at.Sub(d.Hours[0].At) / time.Hour)
		if c.at.Before(d.Hours[0].At) || hour >= len(d.Hours) {
			hour = -1 // in the part of an hour before
		}
		if hour >= 0 {
			at := 0
			for at < len(steps) && ms >= steps[at] {
				at++
			}
			d.Hours[hour].Calls[at]++
		}
		if c.category != "" {
			errors[c.category]++
			failed[c.tool]++
			if hour >= 0 {
				d.Hours[hour].Failed++
			}
		}
	}
	d.Active = len(users)
	d.Tools = []ToolUse{}
	for _, name := range byCount(tools, func(all []int64) int { return len(all) }) {
		all := tools[name]
		d.Tools = append(d.Tools,
			ToolUse{name, len(all), failed[name], quantile(all, 50), quantile(all, 95), quantile(all, 99)})
	}
	d.Errors = []Count{}
	for _, name := range byCount(errors, func(n int) int { return n }) {
		d.Errors = append(d.Errors, Count{name, errors[name]})
	}
}

// byCount returns the keys of a map, those with the highest counts first.
func byCount[V any](m map[string]V, count func(V) int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(count(m[b])-count(m[a]), cmp.Compare(a, b))
	})
}

// quantile returns the value that percent of the sorted values don't exceed; 0 if there are none.
func quantile(sorted []int64, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}
