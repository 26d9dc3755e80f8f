package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// fitWindow brings a request within the window that the rules didn't bring there. In this order,
// until it fits: the steps of the pipeline; the groups that aren't pinned, oldest first; long texts
// cut to no less than 500 tokens; notes, oldest first; recent groups dropped; long texts cut to no
// less than 50. If the last groups take too much, fewer are kept (see keepFewer). The first two
// free half of the window, so that it isn't full again at the next step: each compaction costs the
// prompt cache, and perhaps a summary. Where what must stay doesn't fit alone, its long texts are
// cut before anything is dropped, which wouldn't help.
func (j *job) fitWindow(ctx context.Context, steps []Step) error {
	_, rest := j.recent()
	j.keepFewer((rest + j.budget) / 2) // half of the room, since the rest may take more than half of the window
	j.run(ctx, steps, j.budget/2)
	if ctx.Err() == nil && j.staying() > j.budget {
		j.cut(ctx, 500)
	}
	for _, resort := range []func(){
		func() {
			j.drop("window: drop", j.budget/2, func(g *Group) bool { return g.Pinned == "" && g.Kind != kindNote })
		},
		func() { j.cut(ctx, 500) },
		func() {
			j.drop("window: drop notes", j.budget, func(g *Group) bool { return g.Pinned == "" && g.note != markGap })
		},
		func() {
			j.drop("window: drop recent", j.budget, func(g *Group) bool {
				return !g.Pinned.hard() && g.note != markGap
			})
		},
		func() { j.cut(ctx, 50) },
	} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if j.total() <= j.budget {
			return nil
		}
		resort()
	}
	if j.total() <= j.budget {
		return nil
	}
	return &ContextTooLargeError{
		Window: j.window.size(), Reserve: j.window.reserve(j.req), Total: j.up(j.total()),
		Biggest: j.biggest(),
	}
}

// staying returns what the request takes without the groups that may go.
func (j *job) staying() int {
	n := j.fixed
	for i := range j.groups {
		if g := &j.groups[i]; g.Pinned != "" || g.Kind == kindNote {
			n = plus(n, g.Tokens)
		}
	}
	return n
}

// drop leaves out the oldest of the groups that may go, until the request takes at most target
// tokens.
func (j *job) drop(name string, target int, may func(*Group) bool) {
	before := j.total()
	r := StepReport{Strategy: name, Before: j.up(before), After: j.up(before)}
	groups := append([]Group(nil), j.groups...)
	gone := make([]bool, len(groups))
	var edits []Edit
	freed := -noteRoom
	leave := func(i int) {
		if gone[i] || groups[i].Pinned.hard() {
			return
		}
		gone[i], groups[i].Pinned = true, ""
		freed += groups[i].Tokens
		edits = append(edits, Edit{Group: i, Drop: true})
	}
	for i := range groups {
		if before-freed <= target {
			break
		}
		if gone[i] || !may(&groups[i]) {
			continue
		}
		leave(i)
		for _, k := range j.linked[i] {
			leave(k)
		}
	}
	if len(edits) == 0 {
		return
	}
	groups, done, err := apply(j.counter, groups, j.linked, edits)
	if err == nil && tokensOf(groups) < tokensOf(j.groups) {
		j.groups, j.changed = groups, true
		j.pin()
		r.After, r.Dropped = j.up(j.total()), done.dropped
		j.steps = append(j.steps, r)
	}
}

// noteRoom is what the notes may take that stand where something was left out.
const noteRoom = 100

// long is a text that may be cut.
type long struct {
	group, message, part int
	tokens               int
}

// cut shortens the longest texts of results and of the user, all to the same length and none to
// less than least tokens. What it takes out goes to the Store; if that fails, it is gone.
func (j *job) cut(ctx context.Context, least int) {
	before := j.total()
	r := StepReport{Strategy: "window: cut", Before: j.up(before)}
	for range 8 {
		texts := j.texts(least)
		if j.total() <= j.budget || len(texts) == 0 {
			break
		}
		limit := max(level(texts, j.total()-j.budget), least)
		progress := false
		for i := range texts {
			if texts[i].tokens <= limit {
				continue
			}
			shorter, err := j.shorten(ctx, &texts[i], limit)
			if err != nil && r.Error == "" {
				r.Error = err.Error()
			}
			if shorter {
				progress = true
				r.Cut++
			}
		}
		if !progress {
			break
		}
	}
	if r.After = j.up(j.total()); r.Cut > 0 {
		j.changed = true
		j.steps = append(j.steps, r)
	}
}

// texts returns what may be cut and is longer than least, longest first. A reply stays as the model
// said it, and nothing of a group is cut in which a call waits for its result.
func (j *job) texts(least int) []long {
	var all []long
	for i := range j.groups {
		g := &j.groups[i]
		if calls, results := pairs(g); g.Tokens <= least || calls > results {
			continue
		}
		for m := range g.Messages {
			msg := &g.Messages[m]
			for p := range msg.Parts {
				part := &msg.Parts[p]
				n := 0
				switch {
				case part.Kind == provider.PartToolResult && part.Result != nil:
					n = j.counter.CountMessage(&provider.Message{Parts: part.Result.Parts})
				case part.Kind == provider.PartText && msg.Role == provider.RoleUser:
					n = j.counter.CountText(part.Text)
				}
				if n > least {
					all = append(all, long{i, m, p, n})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b long) int { return cmp.Compare(b.tokens, a.tokens) })
	return all
}

// level returns to which length texts, longest first, have to be cut to free that much.
func level(texts []long, excess int) int {
	sum := 0
	for i := range texts {
		sum = plus(sum, texts[i].tokens)
		next := 0
		if i+1 < len(texts) {
			next = texts[i+1].tokens
		}
		if limit := (sum - excess) / (i + 1); limit >= next || i+1 == len(texts) {
			return max(limit-8, 0) // what the count of parts together may be above
		}
	}
	return 0
}

// shorten cuts a text to at most limit tokens, if that makes it shorter. An error is the Store's.
func (j *job) shorten(ctx context.Context, t *long, limit int) (shorter bool, failed error) {
	g := j.groups[t.group]
	g.Messages = append([]provider.Message(nil), g.Messages...)
	g.tokens = append([]int(nil), g.tokens...)
	msg := &g.Messages[t.message]
	msg.Parts = append([]provider.Part(nil), msg.Parts...)
	part := &msg.Parts[t.part]
	source := []provider.Part{*part}
	if part.Result != nil {
		source = part.Result.Parts
	}
	parts, err := cutParts(ctx, j.counter, j.store, source, limit-8)
	if err != nil {
		failed = err
		if parts, err = cutParts(ctx, j.counter, nil, source, limit-8); err != nil {
			return false, err
		}
	}
	if part.Result != nil {
		res := *part.Result
		res.Parts = parts
		part.Result = &res
	} else {
		part.Text = parts[0].Text
		if part.Opaque == nil || isCut(part) {
			part.Opaque = parts[0].Opaque
		}
	}
	was, now := g.tokens[t.message], j.counter.CountMessage(msg)
	if now >= was {
		return false, failed
	}
	g.tokens[t.message] = now
	g.Tokens += now - was
	j.groups[t.group] = g
	return true, failed
}
