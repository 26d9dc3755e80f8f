package memory

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A Strategy makes a conversation shorter. It says what it would change as edits of groups; the
// [Compactor] applies them, and refuses those that would break a rule: what a Strategy says can't
// split a call from its result, touch what is pinned, or change the order.
//
// A Strategy answers the same for the same View, changes nothing that it is given, and is safe for
// concurrent use. An error or a panic of it is reported, and the next Strategy continues with the
// unchanged conversation.
type Strategy interface {
	// Name is what reports call it.
	Name() string
	// Compact returns edits that free v.Need tokens, as far as it can and no further than it must.
	// No edits: there is nothing that it could do. Edits with an error are applied, and the error
	// reported.
	Compact(ctx context.Context, v *View) ([]Edit, error)
}

// A View is what a Strategy sees. It is the Strategy's own; the messages in it are shared and not
// to be changed.
type View struct {
	Groups   []Group
	Need     int    // how many tokens are to be freed; math.MaxInt: as many as possible
	Question string // the newest message of the user
	Goal     string // the first
	Subgoals []Subgoal
	Counter  Counter
	Store    Store // nil: there is none

	// Labels, Interactive and Priority are those of the request that is prepared. A Strategy that
	// calls a model on its behalf passes them on, with a Kind of its own: so budgets hold, and
	// nobody who waits is served in the background lane. What the call used it tells with Book.
	Labels      provider.Labels
	Interactive bool
	Priority    int

	booked *booked      // nil: of a View that somebody made
	linked linkedGroups // nil: of Subgoals
	alone  [1]int       // a group that no other goes with
}

// booked is what a strategy's model calls used.
type booked struct {
	usage    provider.Usage
	cost     provider.Money
	unpriced bool // of some it isn't known what they cost
}

func (b *booked) add(u provider.Usage, cost provider.Money, priced bool) {
	b.usage = b.usage.Add(u)
	b.unpriced = b.unpriced || !priced && u.Total() > 0
	b.cost = b.cost.Add(cost)
}

// Book tells what a model call of the Strategy used and what it cost (0: unknown), failed calls
// too; the [StepReport] has the sum, whatever comes of the compaction. It isn't safe for concurrent
// use, and not for use after Compact has returned.
func (v *View) Book(u provider.Usage, cost provider.Money) { v.book(u, cost, cost > 0) }

func (v *View) book(u provider.Usage, cost provider.Money, priced bool) {
	if v.booked != nil {
		v.booked.add(u, cost, priced)
	}
}

// Free returns the indices of the groups that aren't pinned and are no notes, oldest first.
func (v *View) Free() []int {
	var free []int
	for i := range v.Groups {
		if g := &v.Groups[i]; g.Pinned == "" && g.Kind != KindNote {
			free = append(free, i)
		}
	}
	return free
}

// An Edit is a change to one group of a [View]. There is at most one a group.
type Edit struct {
	Group int // index in View.Groups
	// Drop leaves the group out.
	Drop bool
	// Note, for a group that is dropped, is a text that takes its place.
	Note *Note
	// Results take the place of the content of results in the group, for one that isn't dropped.
	Results []NewResult
}

// A Note is a text in the place of groups.
type Note struct {
	Kind  string // summary, subgoal, offload, or a word of the strategy's own
	Text  string
	Facts []string // what must not be lost when the note goes into another one
}

// A NewResult is what a tool result says from now on. Whose result it is doesn't change.
type NewResult struct {
	Message, Part int             // where the result is in the group
	Parts         []provider.Part // text and media
}

// tally is what edits changed, in groups and results.
type tally struct{ dropped, cut, notes int }

// apply returns the groups with the edits applied. The groups given aren't changed. The two ends of
// a finished subgoal go together: one that is left alone would be taken for another's.
func apply(c Counter, groups []Group, linked linkedGroups, edits []Edit) ([]Group, tally, error) {
	var done tally
	byGroup := make([]*Edit, len(groups))
	for i := range edits {
		e := &edits[i]
		switch {
		case e.Group < 0 || e.Group >= len(groups):
			return nil, done, fmt.Errorf("memory: an edit of group %d, and there are %d", e.Group, len(groups))
		case byGroup[e.Group] != nil:
			return nil, done, fmt.Errorf("memory: a second edit of group %d", e.Group)
		case groups[e.Group].Pinned != "":
			return nil, done,
				fmt.Errorf("memory: an edit of group %d, which is pinned (%s)", e.Group, groups[e.Group].Pinned)
		case e.Note != nil && !e.Drop:
			return nil, done, fmt.Errorf("memory: a note for group %d, which isn't dropped", e.Group)
		case e.Note != nil && (e.Note.Kind == "" || e.Note.Kind == markCut || e.Note.Kind == markGap):
			return nil, done,
				fmt.Errorf("memory: a note of kind %q; name it summary, subgoal, offload or by a word of its own",
					e.Note.Kind)
		case e.Note != nil && strings.TrimSpace(e.Note.Text) == "":
			return nil, done, fmt.Errorf("memory: a note without text for group %d", e.Group)
		}
		byGroup[e.Group] = e
	}
	for i := range edits {
		if !edits[i].Drop {
			continue
		}
		for _, k := range linked[edits[i].Group] {
			switch {
			case groups[k].Pinned != "":
				return nil, done,
					fmt.Errorf("memory: an edit that drops one end of a subgoal whose other end is pinned (%s)",
						groups[k].Pinned)
			case byGroup[k] == nil || !byGroup[k].Drop:
				byGroup[k] = &Edit{Group: k, Drop: true}
			}
		}
	}
	out := make([]Group, 0, len(groups)+1)
	var seam seam
	for i := range groups {
		g, e := &groups[i], byGroup[i]
		switch {
		case e == nil && g.note == markGap: // placed anew where there is need
			seam.open = true
		case e == nil:
			out = seam.place(c, append(out, *g))
		case !e.Drop:
			changed, err := replaced(c, g, e.Results)
			if err != nil {
				return nil, done, err
			}
			out = seam.place(c, append(out, changed))
			done.cut += len(e.Results)
		default:
			if g.note != markGap {
				done.dropped++
			}
			seam.open = true
			if n := e.Note; n != nil {
				out = seam.place(c, append(out, noteGroup(c, n.Kind, n.Text, mark{Facts: n.Facts})))
				done.notes++
			}
			if told, ok := toldAfter(c, out, g); ok {
				out = seam.place(c, append(out, told))
			}
		}
	}
	return out, done, nil
}

// toldAfter returns what stays of a group that is dropped behind those in out: see [ToldBefore]. It
// may be about the last of the user's messages that stay; one stays for each of these.
func toldAfter(c Counter, out []Group, g *Group) (Group, bool) {
	told, _ := Told(&g.Messages[0])
	for i := len(out) - 1; i >= 0 && len(told) > 0; i-- {
		switch {
		case out[i].Kind == KindTold && isMarked(&out[i].Messages[0].Parts[0], markBefore):
			return Group{}, false
		case out[i].Kind == KindUser:
			msg := provider.Message{Role: provider.RoleUser, Parts: told}
			n := max(c.CountMessage(&msg), 0)
			return Group{Messages: []provider.Message{msg}, Kind: KindTold, Tokens: n, tokens: []int{n}}, true
		}
	}
	return Group{}, false
}

// seam keeps the roles of a conversation in order where groups were left out.
type seam struct {
	open  bool // something was left out right here
	noted bool // a note has said so before
}

// place looks at the last group of out, and puts a note before it if groups were left out there and
// either nothing has said so yet, or a reply would follow a reply, or nothing.
func (s *seam) place(c Counter, out []Group) []Group {
	at := len(out) - 1
	g := &out[at]
	needed := g.Kind == KindReply && (at == 0 || out[at-1].Kind == KindReply && answered(&out[at-1]))
	if s.open && g.Kind != KindNote && (needed || !s.noted && (at == 0 || out[at-1].Kind != KindNote)) {
		out = append(out, *g)
		out[at] = noteGroup(c, markGap, gapText, mark{})
		s.noted = true
	}
	if g.Kind == KindNote {
		s.noted = true
	}
	s.open = false
	return out
}

// answered reports a reply that ends with what the model said, rather than with results.
func answered(g *Group) bool {
	return g.Messages[len(g.Messages)-1].Role == provider.RoleAssistant
}

func noteGroup(c Counter, kind, text string, m mark) Group {
	msg := noteMessage(kind, text, m)
	n := max(c.CountMessage(&msg), 0)
	return Group{Messages: []provider.Message{msg}, Kind: KindNote, Tokens: n, tokens: []int{n}, note: kind}
}

// replaced returns a group with other results.
func replaced(c Counter, g *Group, results []NewResult) (Group, error) {
	out := *g
	out.Messages = append([]provider.Message(nil), g.Messages...)
	out.tokens = append([]int(nil), g.tokens...)
	fresh := make([]bool, len(out.Messages))
	for _, r := range results {
		if r.Message < 0 || r.Message >= len(out.Messages) || r.Part < 0 ||
			r.Part >= len(out.Messages[r.Message].Parts) {
			return out,
				fmt.Errorf("memory: a new result at message %d, part %d, where there is none", r.Message, r.Part)
		}
		m := &out.Messages[r.Message]
		if !fresh[r.Message] {
			m.Parts = append([]provider.Part(nil), m.Parts...)
			fresh[r.Message] = true
		}
		p := &m.Parts[r.Part]
		if p.Kind != provider.PartToolResult || p.Result == nil {
			return out, fmt.Errorf("memory: a new result at message %d, part %d, which is no result", r.Message, r.Part)
		}
		for i := range r.Parts {
			if k := r.Parts[i].Kind; k != provider.PartText && k != provider.PartMedia {
				return out, fmt.Errorf("memory: a new result with a part of kind %q; it takes text and media", k)
			}
		}
		res := *p.Result
		res.Parts = append([]provider.Part(nil), r.Parts...)
		for i := range res.Parts {
			res.Parts[i].Text = valid(res.Parts[i].Text)
		}
		p.Result = &res
	}
	out.Tokens = 0
	for i := range out.Messages {
		if fresh[i] {
			out.tokens[i] = max(c.CountMessage(&out.Messages[i]), 0)
		}
		out.Tokens = plus(out.Tokens, out.tokens[i])
	}
	return out, nil
}
