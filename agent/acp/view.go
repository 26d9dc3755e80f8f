package acp

import (
	"cmp"
	"context"
	"encoding/base64"
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

// A view turns the events of a session into updates.
type view struct {
	put   func(sdk.SessionUpdate) error
	tools *tools.Registry
	cwd   string

	mine    bool                             // the editor has the input that was read last
	shown   display.Reply                    // of the reply in progress
	changes map[string][]sdk.ToolCallContent // what calls in progress change, by their ids
}

// event puts the updates of an event.
func (v *view) event(ev agent.Event) error {
	switch ev := ev.(type) {
	case *agent.RunStarted:
		return v.begin(ev)
	case *machine.Steered:
		if !v.mine {
			return v.message(&ev.Message)
		}
	case *agent.StepStarted:
		v.shown = display.Reply{}
	case *agent.Reset:
		again := v.shown.Any()
		if v.shown = (display.Reply{}); again {
			return v.put(sdk.UpdateAgentMessageText("\n\n(The answer begins again.)\n\n"))
		}
	case *agent.Lagged:
		v.shown.Repeated = true
	case *agent.TextDelta:
		return v.text(provider.PartText, v.shown.Piece(ev.Index, ev.Text))
	case *agent.ReasoningDelta:
		return v.text(provider.PartReasoning, v.shown.Piece(ev.Index, ev.Text))
	case *agent.Replied:
		return v.message(&ev.Message)
	case *machine.StepFailed:
		return v.message(&ev.Partial)
	case *agent.ToolStarted:
		return v.put(sdk.UpdateToolCall(sdk.ToolCallId(ev.Call.ID), sdk.WithUpdateTitle(v.title(ev.Call)),
			sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress), sdk.WithUpdateRawInput(ev.Call.Input)))
	case *agent.Progress:
		return v.put(sdk.UpdateToolCall(sdk.ToolCallId(ev.Envelope().Call), sdk.WithUpdateContent(textOf(ev.Text))))
	case *agent.ToolFinished:
		return v.finished(ev.Call.Name, &ev.Result.ToolResult, !ev.Result.Status.Good())
	case *agent.Suspended:
		if o, ok := plan.Submitted(ev.Pause.Call.Name, ev.Pause.Call.Input); ok {
			return v.plan(&o)
		}
	case *machine.Emitted:
		return v.host(ev.Kind, ev.Value)
	case *agent.Shown:
		return v.host(ev.Kind, ev.Value)
	case *machine.ModeChanged:
		mode := &sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(ev.To)}
		return v.put(sdk.SessionUpdate{CurrentModeUpdate: mode})
	case *agent.RunEnded:
		if ev.Status == agent.Failed || ev.Code == machine.CodeLimit {
			return v.put(sdk.UpdateAgentMessageText("\n\nThe run has " + string(ev.Status) + ": " + ev.Reason + "\n\n"))
		}
	}
	return nil
}

// begin puts the input of a run.
func (v *view) begin(f *agent.RunStarted) (err error) {
	for i := range f.History {
		err = cmp.Or(err, v.message(&f.History[i]))
	}
	switch {
	case err != nil || v.mine || f.ContextReset != nil:
		return err
	case f.Call != nil:
		return v.start(f.Call)
	}
	return v.message(&f.Message)
}

// message puts what of a message wasn't shown while it came.
func (v *view) message(m *provider.Message) (err error) {
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case err != nil || !display.Complete(p):
		case p.Kind == provider.PartToolCall:
			err = v.start(p.Call)
		case p.Kind == provider.PartToolResult:
			err = v.finished("", p.Result, p.Result.Error)
		case m.Role == provider.RoleAssistant:
			err = v.text(p.Kind, v.shown.Rest(i, p.Text))
		case p.Kind == provider.PartText:
			err = v.put(sdk.UpdateUserMessageText(p.Text))
		case p.Kind == provider.PartMedia && strings.HasPrefix(p.Media.Type, "image/"):
			data := base64.StdEncoding.EncodeToString(p.Media.Data)
			err = v.put(sdk.UpdateUserMessage(sdk.ImageBlock(data, p.Media.Type)))
		}
	}
	v.shown = display.Reply{}
	return err
}

// text puts a piece of a reply.
func (v *view) text(kind provider.PartKind, text string) error {
	switch {
	case text == "":
		return nil
	case kind == provider.PartReasoning:
		return v.put(sdk.UpdateAgentThoughtText(text))
	case kind == provider.PartText, kind == provider.PartRefusal:
		return v.put(sdk.UpdateAgentMessageText(text))
	}
	return nil
}

// finished puts the result of a call. What it has changed says more than its text.
func (v *view) finished(tool string, res *provider.ToolResult, failed bool) error {
	status, content := sdk.ToolCallStatusCompleted, v.changes[res.CallID]
	if failed {
		status = sdk.ToolCallStatusFailed
	}
	if failed || len(content) == 0 {
		content = textOf(res.Text())
	}
	delete(v.changes, res.CallID)
	err := v.put(sdk.UpdateToolCall(sdk.ToolCallId(res.CallID), sdk.WithUpdateStatus(status),
		sdk.WithUpdateContent(content)))
	var todo struct {
		Items []struct{ Status, Text string }
	} // of memory/recall
	if failed || err != nil || !strings.HasPrefix(tool, "todo.") || len(res.Parts) == 0 ||
		json.Unmarshal([]byte(res.Parts[0].Text), &todo) != nil {
		return err
	}
	entries := []sdk.PlanEntry{}
	for _, it := range todo.Items {
		if it.Status != "dropped" {
			entries = append(entries, entry(it.Text, it.Status))
		}
	}
	return v.put(sdk.UpdatePlan(entries...))
}

// host puts how far a plan of agent/plan is.
func (v *view) host(kind string, value json.RawMessage) error {
	var o plan.Overview
	if kind != plan.EventKind || json.Unmarshal(value, &o) != nil {
		return nil
	}
	return v.plan(&o)
}

func (v *view) plan(o *plan.Overview) error {
	entries := []sdk.PlanEntry{}
	for _, s := range o.Steps {
		entries = append(entries, entry(strings.TrimSpace(s.Work+" "+s.Text), string(s.Status)))
	}
	return v.put(sdk.UpdatePlan(entries...))
}

// entry returns an entry of a plan with the status of an item of a todo list, or of a node.
func entry(text, status string) sdk.PlanEntry {
	e := sdk.PlanEntry{Content: text, Priority: sdk.PlanEntryPriorityMedium, Status: sdk.PlanEntryStatusCompleted}
	switch status {
	case "open", "pending":
		e.Status = sdk.PlanEntryStatusPending
	case "doing", "running", "reviewing", "asking":
		e.Status = sdk.PlanEntryStatusInProgress
	case "failed", "skipped":
		e.Content = status + ": " + text
	}
	return e
}

// files is the category of tools whose inputs name files as those of tools/file do.
const files = "file"

// kinds are the kinds of calls by the last words of their tools' names.
var kinds = map[string]sdk.ToolKind{"read": sdk.ToolKindRead, "list": sdk.ToolKindSearch, "search": sdk.ToolKindSearch,
	"write": sdk.ToolKindEdit, "edit": sdk.ToolKindEdit, "move": sdk.ToolKindMove, "delete": sdk.ToolKindDelete,
	"run": sdk.ToolKindExecute, "fetch": sdk.ToolKindFetch}

// start puts a call that the model has made.
func (v *view) start(c *provider.ToolCall) error {
	kind := cmp.Or(kinds[c.Name[strings.LastIndexAny(c.Name, "./")+1:]], sdk.ToolKindOther)
	u := &sdk.SessionUpdateToolCall{ToolCallId: sdk.ToolCallId(c.ID), Title: v.title(c), RawInput: c.Input,
		Status: sdk.ToolCallStatusPending, Kind: kind}
	if len(c.Input) == 0 {
		u.RawInput = c.Invalid
	}
	if in, ok := v.file(c); ok {
		for _, name := range []string{in.Path, in.From, in.To} {
			if name != "" {
				u.Locations = append(u.Locations, sdk.ToolCallLocation{Path: v.path(name), Line: in.Offset})
			}
		}
		if in.Content != nil {
			v.changes[c.ID] = []sdk.ToolCallContent{sdk.ToolDiffContent(v.path(in.Path), *in.Content)}
		} else if in.Old != "" {
			v.changes[c.ID] = []sdk.ToolCallContent{sdk.ToolDiffContent(v.path(in.Path), in.New, in.Old)}
		}
	}
	u.Content = v.changes[c.ID]
	return v.put(sdk.SessionUpdate{ToolCall: u})
}

// A fileInput is what is shown of the input of a tool for files.
type fileInput struct {
	Path, From, To, Old, New string
	Content                  *string
	Offset                   *int
}

// file returns the input of a call of a tool for files.
func (v *view) file(c *provider.ToolCall) (in fileInput, ok bool) {
	d, ok := v.tools.Lookup(c.Name)
	return in, ok && d.Spec().Category == files && json.Unmarshal(c.Input, &in) == nil
}

// title says what a call does.
func (v *view) title(c *provider.ToolCall) string {
	if d, ok := v.tools.Lookup(c.Name); ok {
		return tools.CleanTitle(d.Title(context.Background(), c.Input))
	}
	return tools.TitleOf(c.Name, c.Input)
}

// path returns the absolute path of a file in the session's folder.
func (v *view) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(v.cwd, name)
}

// asked describes the call of a pause: why it is asked, and what it would change.
func (v *view) asked(p *agent.Pause) sdk.ToolCallUpdate {
	if in, ok := v.file(&p.Call); ok && p.Preview != "" {
		v.changes[p.Call.ID] = hunks(v.path(in.Path), p.Preview)
	} else if p.Preview != "" {
		v.changes[p.Call.ID] = textOf("```diff\n" + p.Preview + "```")
	}
	content := append(textOf(strings.TrimSpace(p.Reason+"\n"+p.Refused)), v.changes[p.Call.ID]...)
	return sdk.ToolCallUpdate{ToolCallId: sdk.ToolCallId(p.Call.ID), Title: sdk.Ptr(cmp.Or(p.Title, v.title(&p.Call))),
		Status: sdk.Ptr(sdk.ToolCallStatusPending), Content: content, RawInput: p.Call.Input}
}

func textOf(text string) []sdk.ToolCallContent {
	if text == "" {
		return nil
	}
	return []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))}
}

// hunks returns a unified diff of one file as the changes of its hunks, and what else it says, such
// as that it is cut, as a text.
func hunks(path, diff string) (out []sdk.ToolCallContent) {
	head, body, ok := strings.Cut("\n"+diff, "\n@@ ")
	if !ok { // a move, or what isn't text
		return textOf(diff)
	}
	before, names, _ := strings.Cut(head, "\n--- ")
	created, rest := strings.HasPrefix(names, "/dev/null\n"), before
	var hunk *sdk.ToolCallContentDiff
	for line := range strings.Lines("@@ " + body) {
		switch mark, text := line[0], line[1:]; {
		case mark == '@':
			hunk = &sdk.ToolCallContentDiff{Path: path, OldText: new(string), Type: "diff"}
			out = append(out, sdk.ToolCallContent{Diff: hunk})
		case mark == '\\' && !strings.HasPrefix(text, " No newline"):
			rest += text
		case mark == '-':
			*hunk.OldText += text
		case mark == '+':
			hunk.NewText += text
		case mark == ' ':
			*hunk.OldText += text
			hunk.NewText += text
		}
	}
	if created {
		hunk.OldText = nil
	}
	return append(out, textOf(strings.TrimSpace(rest))...)
}
