package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// Slide drops the oldest groups until enough is freed. What is pinned stays, and notes. How many of
// the last groups are pinned is [Config].Keep.
type Slide struct{}

// Name returns "slide".
func (Slide) Name() string { return "slide" }

// Compact drops groups.
func (Slide) Compact(_ context.Context, v *View) ([]Edit, error) {
	return dropUntilEnough(v, v.Free()), nil
}

// Importance drops the least important groups until enough is freed; among equals the older. A
// group has a score of .3, with .4 more for the user's words, .2 for calls, .2 for a call that
// failed, .2 for words such as goal, plan, decision, error, and .2 less for a short text without a
// call.
type Importance struct{}

// Name returns "importance".
func (Importance) Name() string { return "importance" }

// Compact drops groups.
func (Importance) Compact(_ context.Context, v *View) ([]Edit, error) {
	return dropUntilEnough(v, ranked(v, func(i int) float64 { return importanceOf(&v.Groups[i]) })), nil
}

// scored is how much of a group's text is looked at.
const scored = 4 << 10

var tellingWords = map[string]bool{"goal": true, "plan": true, "objective": true, "decision": true, "decided": true,
	"error": true, "failed": true, "important": true}

// importanceOf scores a group by its first 4 KiB.
func importanceOf(g *Group) float64 {
	score := .3
	text, telling := g.Text(scored), false
	terms(text, func(t string) { telling = telling || tellingWords[t] })
	calls, _ := pairs(g)
	switch {
	case g.Kind == KindUser:
		score += .4
	case calls > 0:
		score += .2
	case len(text) < 50:
		score -= .2
	}
	failed := false
	eachResult(g, func(_, _ int, r *provider.ToolResult) { failed = failed || r.Error })
	if failed {
		score += .2
	}
	if telling {
		score += .2
	}
	return min(score, 1)
}

// Relevance drops the groups that have least to do with the current question, until enough is
// freed; among equals the older.
type Relevance struct{}

// Name returns "relevance".
func (Relevance) Name() string { return "relevance" }

// Compact drops groups. Without a question it drops none.
func (Relevance) Compact(_ context.Context, v *View) ([]Edit, error) {
	if v.Question == "" {
		return nil, nil
	}
	asked := make(map[string]float64) // how many groups have the word, then its weight
	terms(v.Question, func(t string) { asked[t] = 0 })
	free := v.Free()
	has := make(map[int][]string, len(free))
	for _, i := range free {
		seen := make(map[string]bool)
		terms(v.Groups[i].Text(scored), func(t string) {
			if _, ok := asked[t]; ok && !seen[t] {
				seen[t] = true
				has[i] = append(has[i], t)
				asked[t]++
			}
		})
	}
	for t, n := range asked {
		asked[t] = math.Log(1 + float64(len(free))/(1+n))
	}
	return dropUntilEnough(v, ranked(v, func(i int) float64 {
		sum := 0.0
		for _, t := range has[i] {
			sum += asked[t]
		}
		return sum
	})), nil
}

// terms calls f with the words of a text, in lower case: at least three letters or digits, and
// pairs of characters where words aren't written apart.
func terms(text string, f func(string)) {
	var last rune
	start := -1
	flush := func(end int) {
		if start >= 0 && end-start >= 3 {
			f(strings.ToLower(text[start:end]))
		}
		start = -1
	}
	for i, r := range text {
		if r < utf8.RuneSelf {
			last = 0
			if k := kinds[r]; k != kindLetter && k != kindDigit {
				flush(i)
			} else if start < 0 {
				start = i
			}
			continue
		}
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
			flush(i)
			if last != 0 {
				f(string([]rune{last, r}))
			}
			last = r
			continue
		}
		last = 0
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if start < 0 {
				start = i
			}
		} else {
			flush(i)
		}
	}
	flush(len(text))
}

// Offload moves the oldest groups as text into the Store until enough is freed, and leaves a note
// with the handle. Without a Store it does nothing.
type Offload struct{}

// Name returns "offload".
func (Offload) Name() string { return "offload" }

// Compact moves groups. An error of the Store ends it.
func (Offload) Compact(ctx context.Context, v *View) ([]Edit, error) {
	if v.Store == nil {
		return nil, nil
	}
	edits := dropUntilEnough(v, v.Free())
	if len(edits) == 0 {
		return nil, nil
	}
	var w textWriter
	for _, e := range edits {
		render(&w, &v.Groups[e.Group], 0)
	}
	text := w.String()
	handle := HandleOf(text)
	if err := v.Store.Put(ctx, handle, text); err != nil {
		return nil, fmt.Errorf("memory: keeping what is left out: %w", err)
	}
	edits[0].Note = &Note{Kind: markOffload,
		Text: fmt.Sprintf(
			"[%d earlier exchanges were moved out to save room; memory.read with the handle %s reads them.]",
			len(edits), handle)}
	return edits, nil
}

// dropUntilEnough drops groups in the order given, each with what goes with it, until enough is
// freed. The edits come in the order of the conversation.
func dropUntilEnough(v *View, order []int) []Edit {
	var edits []Edit
	freed := 0
	gone := make([]bool, len(v.Groups))
	for _, i := range order {
		if freed >= v.Need {
			break
		}
		set, ok := v.together(i)
		if !ok || gone[i] {
			continue
		}
		for _, k := range set {
			gone[k] = true
			freed += v.Groups[k].Tokens
			edits = append(edits, Edit{Group: k, Drop: true})
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Group, b.Group) })
	return edits
}

// ranked returns the free groups by score, lowest first, among equals oldest first.
func ranked(v *View, score func(i int) float64) []int {
	order, scores := v.Free(), make(map[int]float64)
	for _, i := range order {
		scores[i] = score(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	return order
}
