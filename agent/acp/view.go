package acp

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// put sends an update to the editor. If it is gone, the connection ends.
func (x *session) put(u sdk.SessionUpdate) {
	_ = x.srv.conn.SendNotification(x.srv.ctx, sdk.ClientMethodSessionUpdate,
		sdk.SessionNotification{SessionId: sdk.SessionId(x.id), Update: u})
}

// show puts the updates of an event.
func (x *session) show(ev agent.Event) {
	x.after = max(x.after, ev.Envelope().Seq)
	switch ev := ev.(type) {
	case *agent.RunStarted:
		if ev.ContextReset == nil {
			x.input(ev.Key, &ev.Message)
		}
	case *machine.Steered:
		x.input(ev.Key, &ev.Message)
	case *agent.StepStarted, *agent.Reset, *machine.StepFailed:
		x.shown = display.Reply{}
	case *agent.Lagged:
		x.shown.Repeated = true
	case *agent.TextDelta:
		x.text(sdk.UpdateAgentMessageText, x.shown.Piece(ev.Index, ev.Text))
	case *agent.ReasoningDelta:
		x.text(sdk.UpdateAgentThoughtText, x.shown.Piece(ev.Index, ev.Text))
	case *agent.Replied:
		for i, p := range ev.Message.Parts { // what wasn't shown while it came
			switch {
			case p.Kind == provider.PartReasoning:
				x.text(sdk.UpdateAgentThoughtText, x.shown.Rest(i, p.Text))
			case p.Kind == provider.PartToolCall && p.Call != nil:
				x.put(sdk.SessionUpdate{ToolCall: x.call(p.Call)})
			default:
				x.text(sdk.UpdateAgentMessageText, x.shown.Rest(i, p.Text))
			}
		}
		x.shown = display.Reply{}
	case *agent.ToolFinished:
		status := map[bool]sdk.ToolCallStatus{true: "completed", false: "failed"}[ev.Result.Succeeded()]
		content := append(x.call(ev.Call).Content, sdk.ToolContent(sdk.TextBlock(ev.Result.Text())))
		id := sdk.ToolCallId(ev.Call.ID)
		x.put(sdk.UpdateToolCall(id, sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content)))
		if strings.HasPrefix(ev.Call.Name, "todo.") {
			x.plan(plan.EventKind, json.RawMessage(ev.Result.Text()))
		}
	case *agent.Suspended:
		x.previews[ev.Pause.Call.ID] = ev.Pause.Preview
		if o, ok := plan.Submitted(ev.Pause.Call.Name, ev.Pause.Call.Input); ok {
			x.plan(plan.EventKind, o)
		}
	case *machine.Decided:
		x.withdraw()
	case *machine.Emitted:
		var text string
		if ev.Kind == agent.NoticeKind && json.Unmarshal(ev.Value, &text) == nil {
			x.put(sdk.UpdateAgentMessageText("\n\n◦ " + text + "\n\n"))
		}
		x.plan(ev.Kind, ev.Value)
	case *agent.Shown:
		x.plan(ev.Kind, ev.Value)
	case *machine.ModeChanged:
		mode := sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(ev.To)}
		x.put(sdk.SessionUpdate{CurrentModeUpdate: &mode})
	}
}

// input notes that a run has read an input, and puts it if it isn't a prompt of this editor.
func (x *session) input(key string, m *provider.Message) {
	x.mu.Lock()
	t := x.turns[key]
	if t != nil {
		t.read = true
	}
	x.mu.Unlock()
	if t == nil {
		x.text(sdk.UpdateUserMessageText, m.Text())
	}
}

// text puts a piece of a message.
func (x *session) text(update func(string) sdk.SessionUpdate, text string) {
	if text != "" {
		x.put(update(text))
	}
}

// call describes a call. One with a path and a text, or with paths and a patch, as those of
// tools/file, changes files: as its preview says if it was asked about, or else as its input does.
func (x *session) call(c *provider.ToolCall) *sdk.SessionUpdateToolCall {
	u := &sdk.SessionUpdateToolCall{ToolCallId: sdk.ToolCallId(c.ID), Title: tools.TitleOf(c.Name, c.Input),
		Status: sdk.ToolCallStatusPending, Kind: sdk.ToolKindOther, RawInput: append(json.RawMessage(nil), c.Input...)}
	if d, ok := x.hub.Agent().Tools().Lookup(c.Name); ok {
		u.Title = tools.CleanTitle(d.Title(x.ctx, c.Input))
	}
	var in struct {
		Path, Old, New, Content, Patch string
		Paths                          []string
	}
	_ = json.Unmarshal(c.Input, &in)
	changes := fileDiffs(cmp.Or(x.previews[c.ID], in.Patch))
	if in.Path != "" {
		if in.Paths = []string{in.Path}; len(changes) != 1 {
			changes = []fileDiff{{in.Path, in.Old, in.New + in.Content}}
		}
		changes[0].name = in.Path
	}
	for _, name := range in.Paths {
		if !filepath.IsLocal(name) {
			return u
		}
		u.Locations = append(u.Locations, sdk.ToolCallLocation{Path: filepath.Join(x.cwd, name)})
	}
	for _, d := range changes {
		for _, name := range in.Paths {
			if d.old != d.text && (d.name == name || d.name == "b/"+name) {
				u.Kind = sdk.ToolKindEdit
				u.Content = append(u.Content, sdk.ToolDiffContent(filepath.Join(x.cwd, name), d.text, d.old))
				break
			}
		}
	}
	return u
}

// A fileDiff is the change of a file, as far as a diff shows it.
type fileDiff struct{ name, old, text string }

// fileDiffs reads a unified diff: the preview of a call, or a patch. The @@ line of each hunk but
// the first is in both texts. A file ends before a line that can't be one of a hunk, such as that
// of git before the next file, or the signature of a mail.
func fileDiffs(diff string) (list []fileDiff) {
	lines := strings.SplitAfter(strings.ReplaceAll(diff, "\u240d\n", "\n"), "\n") // how a preview shows CRLF
	hunks, ended := 0, false
	for i, line := range lines {
		next := lines[min(i+1, len(lines)-1)]
		if strings.HasPrefix(line, "--- ") && strings.HasPrefix(next, "+++ ") {
			name, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(next[4:], line[4:])), "\t")
			if name == "/dev/null" { // it is deleted
				name = "b/" + strings.TrimPrefix(strings.TrimSpace(line[4:]), "a/")
			}
			list, hunks, ended = append(list, fileDiff{name: name}), 0, false
		}
		switch d := list[max(len(list)-1, 0):]; {
		case len(d) == 0 || ended || line == "" || line[0] == '\\':
		case strings.HasPrefix(line, "@@"):
			if hunks++; hunks > 1 {
				d[0].old, d[0].text = d[0].old+line, d[0].text+line
			}
		case hunks == 0:
		case line == "-- \n" && next != "" && next[0] >= '0' && next[0] <= '9': // the version of git
			ended = true
		case line[0] == '-':
			d[0].old += line[1:]
		case line[0] == '+':
			d[0].text += line[1:]
		case line[0] == ' ' || line[0] == '\n' || line == "\r\n":
			rest := strings.TrimPrefix(line, " ")
			d[0].old, d[0].text = d[0].old+rest, d[0].text+rest
		default:
			ended = true
		}
	}
	return list
}

// statuses are those of the items of a todo list and of the steps of a plan. The others are open.
var statuses = map[string]sdk.PlanEntryStatus{"doing": "in_progress", "running": "in_progress",
	"done": "completed", "dropped": "completed", "skipped": "completed"}

// plan puts a todo list of memory/recall, or how far a plan of agent/plan is.
func (x *session) plan(kind string, value any) {
	type item struct{ Work, Text, Status string }
	var list struct{ Items, Steps []item }
	if data, err := json.Marshal(value); kind != plan.EventKind || err != nil || json.Unmarshal(data, &list) != nil {
		return
	}
	entries := []sdk.PlanEntry{}
	for _, it := range append(list.Items, list.Steps...) {
		failed := map[string]string{"failed": "✗ "}[it.Status] // the protocol has no such status
		entries = append(entries, sdk.PlanEntry{Content: failed + strings.TrimSpace(it.Work+" "+it.Text),
			Priority: sdk.PlanEntryPriorityMedium, Status: cmp.Or(statuses[it.Status], "pending")})
	}
	x.put(sdk.UpdatePlan(entries...))
}
