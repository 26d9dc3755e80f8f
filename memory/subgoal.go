package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// A Subgoal is a part of the work with a beginning and an end: the unit in which finished work is
// best forgotten, and its outcome kept.
type Subgoal struct {
	Name   string
	Status string // completed, failed, …: as the model says it
	// Summary and Facts are what is kept of it.
	Summary string
	Facts   []string
	// From and To are the groups that it spans, To exclusive.
	From, To int
	Open     bool // not finished: To says nothing, and the group From stays
}

// A Finder finds the subgoals of a conversation. It answers the same for the same groups.
type Finder func(groups []Group) []Subgoal

// SubgoalCalls finds subgoals by calls of two tools that a model marks them with: begin, whose
// input has a name, and done, whose input may have name, status, summary and facts (a list of
// texts). A done without a name ends the newest that is open; one that never began is none. Calls
// that failed count for nothing.
func SubgoalCalls(begin, done string) Finder {
	return func(groups []Group) []Subgoal {
		var all []Subgoal
		var open []int // indices in all
		for i := range groups {
			eachCall(&groups[i], func(c *provider.ToolCall) {
				switch c.Name {
				case begin:
					open = append(open, len(all))
					all = append(all, Subgoal{Name: subgoalInput(c).Name, From: i, Open: true})
				case done:
					in := subgoalInput(c)
					for k := len(open) - 1; k >= 0; k-- {
						s := &all[open[k]]
						if in.Name != "" && in.Name != s.Name {
							continue
						}
						s.Status, s.Summary, s.Facts = in.Status, in.Summary, in.Facts
						s.To, s.Open = i+1, false
						open = append(open[:k], open[k+1:]...)
						break
					}
				}
			})
		}
		return all
	}
}

type subgoalFields struct {
	Name, Status, Summary string
	Facts                 []string
}

func subgoalInput(c *provider.ToolCall) (in subgoalFields) {
	_ = json.Unmarshal(c.Input, &in) // what can't be read says nothing
	return in
}

// eachCall calls f with the calls of a group that have a result which is no error.
func eachCall(g *Group, f func(*provider.ToolCall)) {
	failed := make(map[string]bool)
	eachResult(g, func(_, _ int, r *provider.ToolResult) { failed[r.CallID] = r.Error })
	for m := range g.Messages {
		for p := range g.Messages[m].Parts {
			part := &g.Messages[m].Parts[p]
			if part.Kind != provider.PartToolCall || part.Call == nil {
				continue
			}
			if bad, ok := failed[part.Call.ID]; ok && !bad {
				f(part.Call)
			}
		}
	}
}

// Subgoals replaces each finished subgoal by a note of at most 400 tokens: its name, its summary
// and its key facts, with those of subgoals within it. If it has neither summary nor facts, the
// note has the model's last words. A subgoal that still has a pinned group in it waits.
// Config.Subgoals says how subgoals are found.
type Subgoals struct{}

const subgoalTokens = 400 // of a note, at most

// Name returns "subgoals".
func (Subgoals) Name() string { return "subgoals" }

// Compact replaces finished subgoals, oldest first, until enough is freed. One that is no longer
// than its note is left as it is.
func (Subgoals) Compact(_ context.Context, v *View) ([]Edit, error) {
	var edits []Edit
	freed, end := 0, 0
	byBegin := append([]Subgoal(nil), v.Subgoals...)
	slices.SortStableFunc(byBegin, func(a, b Subgoal) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	for _, sub := range byBegin {
		if freed >= v.Need {
			break
		}
		if sub.Open || sub.From < end || sub.To <= sub.From || sub.To > len(v.Groups) {
			continue // one within another goes with that one
		}
		end = sub.To
		if slices.ContainsFunc(v.Groups[sub.From:end], func(g Group) bool { return g.Pinned != "" }) {
			continue
		}
		text, facts := subgoalText(v, byBegin, &sub)
		text, _ = CutText(v.Counter, text, "[… %d bytes …]", subgoalTokens)
		takes := v.Counter.CountText(text) + perMessage
		if tokensOf(v.Groups[sub.From:sub.To]) <= takes {
			continue // as short as its note
		}
		freed -= takes
		for i := sub.From; i < sub.To; i++ {
			e := Edit{Group: i, Drop: true}
			if i == sub.From {
				e.Note = &Note{Kind: markSubgoal, Text: text, Facts: facts}
			}
			edits = append(edits, e)
			freed += v.Groups[i].Tokens
		}
	}
	return edits, nil
}

func subgoalText(v *View, byBegin []Subgoal, sub *Subgoal) (string, []string) {
	facts := append([]string(nil), sub.Facts...)
	first := sort.Search(len(byBegin), func(i int) bool { return byBegin[i].From >= sub.From })
	for i := first; i < len(byBegin) && byBegin[i].From < sub.To; i++ { // within it
		if o := &byBegin[i]; !o.Open && !(o.From == sub.From && o.To == sub.To && o.Name == sub.Name) {
			if o.Summary != "" {
				facts = append(facts, o.Name+": "+o.Summary)
			}
			facts = append(facts, o.Facts...)
		}
	}
	for i := sub.From; i < sub.To; i++ {
		if g := &v.Groups[i]; g.Kind == KindNote {
			facts = append(facts, markOf(&g.Messages[0]).Facts...)
		}
	}
	facts = lastFacts(v.Counter, facts, 2*subgoalTokens)
	summary := strings.TrimSpace(sub.Summary)
	if summary == "" && len(facts) == 0 {
		var w textWriter
		for i := sub.From; i < sub.To; i++ {
			render(&w, &v.Groups[i], 2_000)
		}
		summary = cut.End(w.String(), 600)
	}
	status := sub.Status
	if status == "" {
		status = "completed"
	}
	var b strings.Builder
	b.WriteString("[Earlier subgoal, " + status + ": " + sub.Name + "]")
	if summary != "" {
		b.WriteString("\n" + summary)
	}
	writeFacts(&b, facts)
	return b.String(), facts
}

func writeFacts(b *strings.Builder, facts []string) {
	for i, f := range facts {
		if i == 0 {
			b.WriteString("\nKey facts:")
		}
		b.WriteString("\n- " + f)
	}
}
