package page

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A ViewConfig configures a [View].
type ViewConfig struct {
	// Session is the session that is shown. Events of other sessions are left out.
	Session string
	// Tool returns what approvals show of a tool, besides the call; nil, or a zero Tool: nothing.
	Tool func(name string) Tool
	// Preview returns what the host shows of what a pause asks about; nil, or a zero Preview:
	// nothing.
	Preview func(p *agent.Pause) Preview
}

// A Tool is what approvals show of a tool.
type Tool struct {
	Description string
	Schema      json.RawMessage // of its input
	Undo        bool            // it can undo its effect
	UndoFailed  bool            // also that of a call that has failed
}

// A View turns the events of a session into patches. It isn't safe for concurrent use.
type View struct {
	cfg   ViewConfig
	begun bool
	reply reply
}

// NewView returns a View. Its first patch drops the drafts that the page may have from an earlier
// connection.
func NewView(cfg ViewConfig) *View { return &View{cfg: cfg} }

// Event returns what the page must change because of an event. The text of notes is returned by
// [View.Flush].
func (v *View) Event(ev agent.Event) []Patch {
	if v == nil || ev == nil {
		return nil
	}
	meta := ev.Envelope()
	if v.cfg.Session != meta.Session() {
		return nil
	}
	var out []Patch
	if !v.begun {
		v.begun, out = true, []Patch{{Drop: dropDrafts}}
	}
	return append(out, v.event(ev, meta)...)
}

// Flush returns the changes that are due because text has come.
func (v *View) Flush() []Patch {
	if v == nil {
		return nil
	}
	return v.reply.due()
}

func (v *View) event(ev agent.Event, meta agent.Meta) []Patch {
	switch ev := ev.(type) {
	case *agent.RunStarted:
		return v.started(ev)
	case *machine.Steered:
		it := userItem(&ev.Message, meta)
		it.ID, it.Steered = "m"+strconv.FormatUint(meta.Seq, 10), true
		return []Patch{{Item: it}}
	case *agent.StepStarted, *machine.Continued:
		return []Patch{{State: &State{Status: string(agent.Running)}}}
	case *agent.TextDelta:
		return v.piece(KindText, meta, ev.Index, ev.Text)
	case *agent.ReasoningDelta:
		return v.piece(KindReasoning, meta, ev.Index, ev.Text)
	case *agent.CallBegun:
		return []Patch{{State: &State{Active: true}},
			{Item: &Item{ID: meta.Call, Kind: KindCall, Group: group(meta), Order: ev.Index,
				Call: &Call{Name: ev.Name, Status: "writing"}}}}
	case *agent.Reset, *agent.Lagged:
		v.reply = reply{}
		return []Patch{{Drop: dropDrafts}}
	case *agent.Replied:
		return v.replied(&ev.Message, meta)
	case *machine.StepFailed:
		return v.replied(&ev.Partial, meta)
	case *agent.Waiting:
		wait := &Wait{Reason: string(ev.Reason), Until: ev.Until}
		if meta.Call == "" {
			return []Patch{{State: &State{Waiting: wait}}}
		}
		return []Patch{{Item: &Item{ID: meta.Call, Kind: KindCall, Call: &Call{Wait: wait}}}}
	case *agent.Progress:
		return []Patch{
			{Item: &Item{ID: meta.Call, Kind: KindCall, Call: &Call{Progress: &CallProgress{ev.Text, ev.Done}}}}}
	case *agent.ToolStarted:
		if ev.Call == nil { // no run has it
			return nil
		}
		return []Patch{{State: &State{Status: string(agent.Running)}}, v.call(ev.Call, meta, "running")}
	case *agent.ToolFinished:
		return v.finished(ev)
	case *agent.Suspended:
		return v.suspended(ev)
	case *machine.Decided:
		return v.decided(ev)
	case *machine.Emitted:
		var text string
		if ev.Kind == agent.NoticeKind && json.Unmarshal(ev.Value, &text) == nil {
			return []Patch{v.notice("notice", meta, text)}
		}
		return v.plan(ev.Kind, ev.Value, meta)
	case *agent.Shown:
		return v.plan(ev.Kind, ev.Value, meta)
	case *machine.ModeChanged:
		return []Patch{{State: &State{Mode: ev.To}}, v.notice("mode", meta, ev.To)}
	case *machine.TitleChanged:
		return []Patch{{State: &State{Title: &ev.Title}}}
	case *machine.Compacted:
		if len(ev.Spans) == 0 {
			return nil
		}
		return []Patch{v.notice("compacted", meta, "")}
	case *machine.Undone:
		return v.undone(ev)
	case *agent.RunEnded:
		return v.ended(ev)
	}
	return nil
}

// started shows the input of a run. A run that continues the work of another begins with nothing
// that the user has said.
func (v *View) started(f *agent.RunStarted) (out []Patch) {
	v.reply = reply{}
	if f.Replaces != nil {
		out = append(out, Patch{Replaced: f.Replaces.Start})
	}
	out = append(out, Patch{State: &State{Status: string(agent.Running), Mode: f.Mode}})
	out = append(out, v.history(f.History, f.Run()+".h")...)
	if f.Call != nil {
		return append(out, v.call(f.Call, f.Meta, "ready"))
	}
	if f.ContextReset != nil {
		return append(out, v.notice("context_reset", f.Meta, ""))
	}
	it := userItem(&f.Message, f.Meta)
	it.ID, it.By, it.Fact = f.Run(), f.User, f.Seq
	return append(out, Patch{Item: it})
}

// userItem returns a user's message.
func userItem(m *provider.Message, meta agent.Meta) *Item {
	it := &Item{Kind: KindUser, Text: m.Text(), By: meta.By, Time: meta.Time}
	for i := range m.Parts {
		if media := m.Parts[i].Media; media != nil {
			it.Files = append(it.Files, fileOf(media))
		}
	}
	return it
}

// maxImage is how large an image may be that is sent to the page with its message.
const maxImage = 1 << 20

func fileOf(m *provider.Media) File {
	f := File{Name: m.Name, Type: m.Type, Size: len(m.Data)}
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, m.Type) && len(m.Data) > 0 &&
		len(m.Data) <= maxImage {
		f.URL = "data:" + m.Type + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
	}
	return f
}

// group returns the id of a model call.
func group(meta agent.Meta) string { return meta.Run() + "." + strconv.Itoa(meta.Step) }

// partID returns the id of a part of a reply. It differs from those of calls, which package agent
// makes.
func partID(group string, index int) string { return group + "/" + strconv.Itoa(index) }

// piece takes a piece of the reply in progress.
func (v *View) piece(kind Kind, meta agent.Meta, index int, text string) (out []Patch) {
	if g := group(meta); v.reply.group != g || v.reply.parts == nil {
		v.reply = reply{group: g, parts: make(map[int]*textPart)}
		out = append(out, Patch{State: &State{Active: true}})
	}
	p := v.reply.parts[index]
	if p == nil {
		p = &textPart{}
		v.reply.parts[index] = p
		out = append(out,
			Patch{Item: &Item{ID: partID(v.reply.group, index), Kind: kind, Group: v.reply.group, Order: index}})
	}
	p.text.WriteString(text)
	return out
}

// whole returns a complete text.
func whole(kind Kind, id, group string, order int, source string) []Patch {
	out := []Patch{{Item: &Item{ID: id, Kind: kind, Group: group, Order: order, Done: true}}}
	if change := (&textPart{}).change(id, pieces(source)); change != nil {
		out = append(out, *change)
	}
	return out
}

// replied shows a reply as it is recorded. What the page had of it and isn't in it goes.
func (v *View) replied(m *provider.Message, meta agent.Meta) (out []Patch) {
	g, sent := group(meta), v.reply
	v.reply = reply{}
	for i := range m.Parts {
		part, id := &m.Parts[i], partID(g, i)
		switch part.Kind {
		case provider.PartText, provider.PartRefusal, provider.PartReasoning:
			if part.Text == "" {
				continue
			}
			kind := KindText
			if part.Kind == provider.PartReasoning {
				kind = KindReasoning
			}
			p := sent.parts[i]
			if p == nil || sent.group != g {
				p = &textPart{}
			}
			out = append(out, Patch{Item: &Item{ID: id, Kind: kind, Group: g, Order: i, Time: meta.Time, Done: true}})
			if change := p.change(id, pieces(part.Text)); change != nil {
				out = append(out, *change)
			}
		default:
			out = append(out, v.part(part, g, i, meta)...)
		}
	}
	return append(out, Patch{Drop: dropDrafts}, Patch{State: &State{Active: true}})
}

// ended shows how a run has ended, unless it is as one expects.
func (v *View) ended(f *agent.RunEnded) []Patch {
	v.reply = reply{}
	out := []Patch{{Drop: dropDrafts}}
	if f.Code == machine.CodeContextReset {
		return out
	}
	out = append(out, Patch{State: &State{Status: string(f.Status), Code: f.Code}})
	if f.Status == agent.Completed || f.Status == agent.Paused && f.Code == "" {
		return out
	}
	code := f.Code
	if code == "" {
		code = string(f.Status)
	}
	end := v.notice(code, f.Meta, f.UserWords())
	end.Item.Quiet = machine.StoppedByPerson(code) || machine.GoesOn(code) || code == machine.CodeForked
	end.Item.GoOn = f.Code == machine.CodeLimit && slices.Contains(ofOneRequest, f.Limit)
	return append(out, end)
}

// ofOneRequest are the limits that the next request has anew. Their words say how to go on.
var ofOneRequest = []string{machine.LimitSteps, machine.LimitStepsPerPhase, machine.LimitTokens, machine.LimitCost,
	machine.LimitDuration, machine.LimitSubagentCalls}

func (v *View) notice(code string, meta agent.Meta, text string) Patch {
	return Patch{Item: &Item{ID: "n" + strconv.FormatUint(meta.Seq, 10), Kind: KindNotice, Code: code, Text: text,
		Time: meta.Time}}
}
