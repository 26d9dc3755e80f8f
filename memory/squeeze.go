package memory

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/provider"
)

// squeeze brings a request within the window that the rules didn't bring there. In this order, until it fits: the steps of
// the pipeline; the groups that aren't pinned, then notes, oldest first; long texts cut to no less than 500 tokens; recent
// groups dropped; long texts cut to no less than 50.
func (j *job) squeeze(ctx context.Context, steps []Step) error {
	j.run(ctx, steps, j.budget, most)
	for _, resort := range []func(){
		func() { j.drop("window: drop", func(g *Group) bool { return g.Pinned == "" && g.Kind != KindNote }) },
		func() {
			j.drop("window: drop notes", func(g *Group) bool { return g.Pinned == "" && g.note != markGap })
		},
		func() { j.cut(ctx, 500) },
		func() {
			j.drop("window: drop recent", func(g *Group) bool { return !g.Pinned.hard() && g.note != markGap })
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
		Biggest: biggest(j.counter, j.req, j.groups, j.up),
	}
}

// drop leaves out the oldest of the groups that may go.
func (j *job) drop(name string, may func(*Group) bool) {
	before := j.total()
	r := StepReport{Strategy: name, Before: j.up(before), After: j.up(before)}
	groups := append([]Group(nil), j.groups...)
	gone := make([]bool, len(groups))
	freed := -noteRoom
	for i := range groups {
		if before-freed <= j.budget {
			break
		}
		if may(&groups[i]) {
			gone[i] = true
			freed += groups[i].Tokens
		}
	}
	for _, i := range otherEnds(j.subgoals, func(i int) bool { return gone[i] }) {
		gone[i] = true
	}
	var edits []Edit
	for i := range gone {
		if gone[i] && !groups[i].Pinned.hard() {
			groups[i].Pinned = ""
			edits = append(edits, Edit{Group: i, Drop: true})
		}
	}
	if len(edits) == 0 {
		return
	}
	groups, done, err := apply(j.counter, groups, j.subgoals, edits)
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

// cut shortens the longest texts of results and of the user, all to the same length and none to less than least tokens.
// What it takes out goes to the Store; if that fails, it is gone.
func (j *job) cut(ctx context.Context, least int) {
	before := j.total()
	r := StepReport{Strategy: "window: cut", Before: j.up(before)}
	for range 8 {
		texts := j.texts(least)
		if j.total() <= j.budget || len(texts) == 0 {
			break
		}
		limit := max(level(texts, j.total()-j.budget), least)
		for i := range texts {
			if texts[i].tokens > limit {
				if err := j.shorten(ctx, &texts[i], limit); err != nil && r.Error == "" {
					r.Error = err.Error()
				}
				r.Cut++
			}
		}
	}
	if r.After = j.up(j.total()); r.Cut > 0 {
		j.changed = true
		j.steps = append(j.steps, r)
	}
}

// texts returns what may be cut and is longer than least, longest first. A reply stays as the model said it, and nothing of
// a group is cut in which a call waits for its result.
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
	stableSort(all, func(a, b *long) bool { return a.tokens > b.tokens })
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

// shorten cuts a text to at most limit tokens.
func (j *job) shorten(ctx context.Context, t *long, limit int) (failed error) {
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
	parts, err := cutParts(ctx, j.counter, contained{j.store}.or(), source, limit-8)
	if err != nil {
		failed = err
		if parts, err = cutParts(ctx, j.counter, nil, source, limit-8); err != nil {
			return err
		}
	}
	if part.Result != nil {
		res := *part.Result
		res.Parts = parts
		part.Result = &res
	} else {
		part.Text = parts[0].Text
	}
	was := g.tokens[t.message]
	g.tokens[t.message] = max(j.counter.CountMessage(msg), 0)
	g.Tokens += g.tokens[t.message] - was
	j.groups[t.group] = g
	return failed
}

// contained is a Store whose panics are errors.
type contained struct{ Store }

// or returns nil for no Store.
func (s contained) or() Store {
	if s.Store == nil {
		return nil
	}
	return s
}

// Put keeps a text.
func (s contained) Put(ctx context.Context, handle, text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("memory: the store panicked: %v", p)
		}
	}()
	return s.Store.Put(ctx, handle, text)
}
