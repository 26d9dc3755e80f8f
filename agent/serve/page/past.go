package page

import (
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Past is what a session has shown so far. Of a long one, a page gets the end at first, and
// earlier parts on request.
type Past struct {
	// Before is the conversation of which there are no facts any more, because the session was
	// pruned or copied.
	Before []provider.Message
	// Facts are those that are shown, in order: without those of runs that were replaced.
	Facts []agent.Fact
}

// Newest returns the patches that show the newest items, at least most of them if there are as
// many: it begins where a run or a model call begins. from is the number of the fact where it
// begins, for [View.Older], or 0 if there is nothing before that.
func (v *View) Newest(past Past, most int) (out []Patch, from uint64) {
	if v == nil {
		return nil, 0
	}
	start := begins(past.Facts, len(past.Facts), most)
	v.begun, out = true, []Patch{{Drop: dropDrafts}}
	state := State{}
	for _, f := range past.Facts[:start] {
		switch f := f.(type) {
		case *agent.RunStarted:
			state.Mode = f.Mode
		case *machine.ModeChanged:
			state.Mode = f.To
		}
	}
	if state.Mode != "" {
		out = append(out, Patch{State: &state})
	}
	list, from := v.between(past, start, len(past.Facts))
	return append(out, list...), from
}

// Older returns the patches that show the items before a fact, as Newest does for the end. They
// have no State, and what was undone since is marked.
func (v *View) Older(past Past, before uint64, most int) (out []Patch, from uint64) {
	if v == nil {
		return nil, 0
	}
	end := 0
	for end < len(past.Facts) && past.Facts[end].Envelope().Seq < before {
		end++
	}
	list, from := v.between(past, begins(past.Facts, end, most), end)
	for _, patch := range list {
		if patch.State == nil {
			out = append(out, patch)
		}
	}
	return out, from
}

// between returns the patches for the facts from start to end, with the marks of later undos.
func (v *View) between(past Past, start, end int) (out []Patch, from uint64) {
	known := make(map[string]bool) // the items that there are
	add := func(patches []Patch, marks bool) {
		for _, patch := range patches {
			switch {
			case patch.Drop != "", patch.Replaced > 0: // there are no drafts, and nothing that was replaced
			case patch.Blocks != nil && !known[patch.Blocks.ID]:
			case patch.Item != nil && !known[patch.Item.ID] && (marks || !patch.Item.isWhole()):
			default:
				if patch.Item != nil {
					known[patch.Item.ID] = true
				}
				out = append(out, patch)
			}
		}
	}
	if start == 0 {
		add(v.history(past.Before, "b"), false)
	} else {
		from = past.Facts[start].Envelope().Seq
	}
	for _, f := range past.Facts[start:end] {
		add(v.event(f, f.Envelope()), false)
	}
	for _, f := range past.Facts[end:] {
		if f, ok := f.(*machine.Undone); ok {
			add(v.undone(f), true)
		}
	}
	v.reply = reply{}
	return out, from
}

// isWhole reports whether an item has all that a page needs to show it. Others change an item.
func (it *Item) isWhole() bool {
	switch it.Kind {
	case KindCall:
		return it.Call != nil && it.Call.Name != ""
	case KindPause:
		return it.Pause != nil
	}
	return true
}

// begins returns where the facts before end begin that have at least most items.
func begins(facts []agent.Fact, end, most int) int {
	n := 0
	for i := end - 1; i > 0; i-- {
		n += items(facts[i])
		switch facts[i].(type) {
		case *agent.RunStarted, *agent.StepStarted:
			if n >= most {
				return i
			}
		}
	}
	return 0
}

// items returns about how many items a fact makes.
func items(f agent.Fact) int {
	switch f := f.(type) {
	case *agent.RunStarted:
		return 1 + len(f.History)
	case *agent.Replied:
		return len(f.Message.Parts)
	case *machine.StepFailed:
		return len(f.Partial.Parts)
	case *machine.Steered, *agent.Suspended, *machine.ModeChanged, *machine.Compacted:
		return 1
	case *machine.Emitted:
		if f.Kind == agent.NoticeKind {
			return 1
		}
	}
	return 0
}

// history shows messages that come from elsewhere than the facts of their runs.
func (v *View) history(messages []provider.Message, prefix string) (out []Patch) {
	for i := range messages {
		m := &messages[i]
		id := prefix + strconv.Itoa(i)
		switch m.Role {
		case provider.RoleUser:
			it := userItem(m, agent.Meta{})
			it.ID = id
			out = append(out, Patch{Item: it})
		case provider.RoleAssistant:
			if text := m.Text(); text != "" {
				out = append(out, whole(KindText, id, id, 0, text)...)
			}
		}
	}
	return out
}
