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
// less than 50; images and other files of the user's earlier messages. If the last groups take too
// much, fewer are kept (see keepFewer). The first two free half of the window, so that it isn't
// full again at the next step: each compaction costs the prompt cache, and perhaps a summary. Where
// what must stay doesn't fit alone, its long texts are cut before anything is dropped, which
// wouldn't help.
func (j *job) fitWindow(ctx context.Context, steps []Step) error {
	_, rest := j.recent()
	j.keepFewer((rest + j.budget) / 2) // half of the room, since the rest may take more than half of the window
	j.run(ctx, steps, j.budget/2)
	if ctx.Err() == nil && j.staying() > j.budget {
		j.cut(ctx, 500)
	}
	for _, resort := range []func(){
		func() {
			j.drop("window: drop", j.budget/2, func(g *Group) bool { return g.Pinned == "" && g.Kind != KindNote })
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
		j.leaveOutFiles,
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
		if g := &j.groups[i]; g.Pinned != "" || g.Kind == KindNote {
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
		over := slices.DeleteFunc(texts, func(t long) bool { return t.tokens <= limit })
		slices.SortStableFunc(over, func(a, b long) int {
			return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.message, b.message))
		})
		for len(over) > 0 {
			n := 1
			for n < len(over) && over[n].group == over[0].group && over[n].message == over[0].message {
				n++
			}
			shorter, err := j.shorten(ctx, over[:n], limit)
			if err != nil && r.Error == "" {
				r.Error = err.Error()
			}
			if shorter {
				progress = true
				r.Cut += n
			}
			over = over[n:]
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
				case msg.Role != provider.RoleUser:
				case part.Kind == provider.PartText:
					n = j.counter.CountText(part.Text)
				case part.Media != nil && isText(part.Media):
					n = j.counter.CountMessage(&provider.Message{Parts: msg.Parts[p : p+1]})
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

// shorten cuts texts of one message to at most limit tokens each, if that makes the message
// shorter. An error is the Store's.
func (j *job) shorten(ctx context.Context, texts []long, limit int) (shorter bool, failed error) {
	g, msg := j.own(&texts[0])
	for _, t := range texts {
		part := &msg.Parts[t.part]
		source := []provider.Part{*part}
		if part.Result != nil {
			source = part.Result.Parts
		}
		parts, err := cutParts(ctx, j.counter, j.store, source, limit-8)
		if err != nil {
			failed = cmp.Or(failed, err)
			if parts, err = cutParts(ctx, j.counter, nil, source, limit-8); err != nil {
				return false, err
			}
		}
		switch {
		case part.Result != nil:
			res := *part.Result
			res.Parts = parts
			part.Result = &res
		case part.Media != nil: // a file that is text
			*part = parts[0]
		default:
			part.Text = parts[0].Text
			if part.Opaque == nil || isCut(part) {
				part.Opaque = parts[0].Opaque
			}
		}
	}
	return j.replace(&texts[0], &g), failed
}

// replace puts a group in its place, if that takes less with its changed message, and reports
// whether it does. The messages and tokens of the group are slices of its own.
func (j *job) replace(t *long, g *Group) bool {
	was, now := g.tokens[t.message], j.counter.CountMessage(&g.Messages[t.message])
	if now >= was {
		return false
	}
	g.tokens[t.message] = now
	g.Tokens += now - was
	j.groups[t.group] = *g
	return true
}

// leaveOutFiles replaces images and other files that can't be cut by their names, largest first,
// until the request fits. Those of the user's newest message stay: a request that the model answers
// without them isn't the one that was made.
func (j *job) leaveOutFiles() {
	r := StepReport{Strategy: "window: leave out files", Before: j.up(j.total())}
	newest := len(j.groups) - 1
	for newest >= 0 && j.groups[newest].Kind != KindUser {
		newest--
	}
	var files []long
	for i := range max(newest, 0) {
		for m := range j.groups[i].Messages {
			msg := &j.groups[i].Messages[m]
			for p := range msg.Parts {
				if msg.Role == provider.RoleUser && msg.Parts[p].Media != nil {
					n := j.counter.CountMessage(&provider.Message{Parts: msg.Parts[p : p+1]})
					files = append(files, long{i, m, p, n})
				}
			}
		}
	}
	slices.SortStableFunc(files, func(a, b long) int { return cmp.Compare(b.tokens, a.tokens) })
	for i := range files {
		if j.total() <= j.budget {
			break
		}
		g, msg := j.own(&files[i])
		part := &msg.Parts[files[i].part]
		*part = markedPart(markCut, mediaText(part.Media)+"\n[It was left out to save room.]", mark{})
		if j.replace(&files[i], &g) {
			r.Cut++
		}
	}
	if r.After = j.up(j.total()); r.Cut > 0 {
		j.changed = true
		j.steps = append(j.steps, r)
	}
}

// own returns a copy of a text's group in which its message may be changed, and that message.
func (j *job) own(t *long) (Group, *provider.Message) {
	g := j.groups[t.group]
	g.Messages = append([]provider.Message(nil), g.Messages...)
	g.tokens = append([]int(nil), g.tokens...)
	msg := &g.Messages[t.message]
	msg.Parts = append([]provider.Part(nil), msg.Parts...)
	return g, msg
}
