package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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

// say shows a text that isn't the model's.
func (x *session) say(text string) { x.put(sdk.UpdateAgentMessageText("\n\n" + text + "\n\n")) }

// show puts the updates of an event.
func (x *session) show(ev agent.Event) {
	x.after = max(x.after, ev.Envelope().Seq)
	switch ev := ev.(type) {
	case *agent.RunStarted:
		if ev.Key != x.key { // the editor shows its own
			x.text(sdk.UpdateUserMessageText, ev.Message.Text())
		}
	case *machine.Steered:
		if ev.Key != x.key {
			x.text(sdk.UpdateUserMessageText, ev.Message.Text())
		}
	case *agent.StepStarted, *agent.Reset, *machine.StepFailed:
		x.shown = display.Reply{}
	case *agent.Lagged:
		x.shown.Repeated = true
	case *agent.TextDelta:
		x.text(sdk.UpdateAgentMessageText, x.shown.Piece(ev.Index, ev.Text))
	case *agent.ReasoningDelta:
		x.text(sdk.UpdateAgentThoughtText, x.shown.Piece(ev.Index, ev.Text))
	case *agent.Replied:
		x.reply(&ev.Message)
	case *agent.ToolFinished:
		x.finished(ev)
	case *agent.Suspended:
		if o, ok := plan.Submitted(ev.Pause.Call.Name, ev.Pause.Call.Input); ok {
			data, _ := json.Marshal(o)
			x.plan(plan.EventKind, data)
		}
	case *machine.Decided:
		x.withdraw(ev.Decision.ID)
	case *machine.Emitted:
		x.plan(ev.Kind, ev.Value)
	case *agent.Shown:
		x.plan(ev.Kind, ev.Value)
	case *machine.ModeChanged:
		mode := sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(ev.To)}
		x.put(sdk.SessionUpdate{CurrentModeUpdate: &mode})
	}
}

// text puts a piece of a message.
func (x *session) text(update func(string) sdk.SessionUpdate, text string) {
	if text != "" {
		x.put(update(text))
	}
}

// reply puts what of a reply wasn't shown while it came.
func (x *session) reply(m *provider.Message) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == provider.PartReasoning:
			x.text(sdk.UpdateAgentThoughtText, x.shown.Rest(i, p.Text))
		case p.Kind == provider.PartToolCall && p.Call != nil:
			x.put(sdk.SessionUpdate{ToolCall: x.call(p.Call)})
		default:
			x.text(sdk.UpdateAgentMessageText, x.shown.Rest(i, p.Text))
		}
	}
	x.shown = display.Reply{}
}

// call describes a call. One with a path and a text, as those of tools/file, changes a file.
func (x *session) call(c *provider.ToolCall) *sdk.SessionUpdateToolCall {
	u := &sdk.SessionUpdateToolCall{ToolCallId: sdk.ToolCallId(c.ID), Title: tools.TitleOf(c.Name, c.Input),
		Status: sdk.ToolCallStatusPending, Kind: sdk.ToolKindOther}
	if d, ok := x.hub.Agent().Tools().Lookup(c.Name); ok {
		u.Title = tools.CleanTitle(d.Title(context.Background(), c.Input))
	}
	if len(c.Input) > 0 {
		u.RawInput = c.Input
	}
	var in struct{ Path, Old, New, Content string }
	if _ = json.Unmarshal(c.Input, &in); in.Path == "" {
		return u
	}
	if !filepath.IsAbs(in.Path) {
		in.Path = filepath.Join(x.cwd, in.Path)
	}
	u.Locations = []sdk.ToolCallLocation{{Path: in.Path}}
	if text := in.New + in.Content; in.Old != text {
		u.Kind, u.Content = sdk.ToolKindEdit, []sdk.ToolCallContent{sdk.ToolDiffContent(in.Path, text, in.Old)}
	}
	return u
}

// finished puts the result of a call, with what it has changed.
func (x *session) finished(ev *agent.ToolFinished) {
	status, text := sdk.ToolCallStatusCompleted, ev.Result.Text()
	if !ev.Result.Status.Good() {
		status = sdk.ToolCallStatusFailed
	}
	x.put(sdk.UpdateToolCall(sdk.ToolCallId(ev.Call.ID), sdk.WithUpdateStatus(status),
		sdk.WithUpdateContent(append(x.call(ev.Call).Content, sdk.ToolContent(sdk.TextBlock(text))))))
	if strings.HasPrefix(ev.Call.Name, "todo.") {
		x.plan(plan.EventKind, []byte(text))
	}
}

// statuses are those of the items of a todo list and of the steps of a plan. The others are open.
var statuses = map[string]sdk.PlanEntryStatus{"doing": sdk.PlanEntryStatusInProgress,
	"running": sdk.PlanEntryStatusInProgress, "done": sdk.PlanEntryStatusCompleted,
	"dropped": sdk.PlanEntryStatusCompleted, "skipped": sdk.PlanEntryStatusCompleted}

// plan puts a todo list of memory/recall, or how far a plan of agent/plan is.
func (x *session) plan(kind string, value []byte) {
	var list struct {
		Items, Steps []struct{ Work, Text, Status string }
	}
	if kind != plan.EventKind || json.Unmarshal(value, &list) != nil {
		return
	}
	entries := []sdk.PlanEntry{}
	for _, it := range append(list.Items, list.Steps...) {
		entries = append(entries, sdk.PlanEntry{Content: strings.TrimSpace(it.Work + " " + it.Text),
			Priority: sdk.PlanEntryPriorityMedium, Status: cmp.Or(statuses[it.Status], sdk.PlanEntryStatusPending)})
	}
	x.put(sdk.UpdatePlan(entries...))
}

// rests asks what a run waits for that has ended or paused. It isn't asked before, because a
// decision that comes while the run pauses would be read late. It reports whether nothing will
// happen: the run may have gone on since.
func (x *session) rests(status agent.Status) bool {
	var open []agent.Pause
	if status == agent.Paused {
		open, _ = x.own.Pending(x.ctx)
	}
	for id := range x.asks {
		if !slices.ContainsFunc(open, func(p agent.Pause) bool { return p.ID == id }) {
			x.withdraw(id)
		}
	}
	x.open = ""
	for i := range open {
		if x.asks[open[i].ID] == nil {
			x.ask(&open[i])
		}
	}
	return len(x.asks) == 0 && (status != agent.Paused || len(open) > 0)
}

// withdraw withdraws what the editor is asked about a pause.
func (x *session) withdraw(id string) {
	if cancel := x.asks[id]; cancel != nil {
		cancel()
		delete(x.asks, id)
	}
}

// ask asks the editor about a pause, or says what it waits for if there is nothing to choose.
func (x *session) ask(p *agent.Pause) {
	var options []sdk.PermissionOption
	decisions := make(map[sdk.PermissionOptionId]agent.Decision)
	add := func(kind sdk.PermissionOptionKind, name string, d agent.Decision) {
		id := sdk.PermissionOptionId(strconv.Itoa(len(options)))
		options = append(options, sdk.PermissionOption{OptionId: id, Kind: kind, Name: name})
		decisions[id] = d.By(x.srv.cfg.Input.User)
	}
	var schema struct{ Enum []any }
	_ = json.Unmarshal(p.Schema, &schema) // of the answer to a question
	for _, v := range schema.Enum {
		add(sdk.PermissionOptionKindAllowOnce, fmt.Sprint(v), agent.Answer(p.ID, v))
	}
	if p.Kind == agent.PauseApproval || p.Kind == agent.PauseInDoubt {
		add(sdk.PermissionOptionKindAllowOnce, "Allow once", agent.Approve(p.ID))
	}
	for _, s := range p.Scopes {
		name := "Always allow: " + cmp.Or(s.Text, s.Name)
		add(sdk.PermissionOptionKindAllowAlways, name, agent.Approve(p.ID).For(s.Name))
	}
	text := cmp.Or(p.Reason, p.Title)
	switch {
	case p.For != "":
		x.say(text + " (This waits for " + p.For + ".)")
		return
	case len(options) == 0:
		x.open = p.ID
		x.say(text)
		return
	}
	add(sdk.PermissionOptionKindRejectOnce, "Reject", agent.Reject(p.ID, ""))
	if p.Preview != "" {
		text += "\n```diff\n" + p.Preview + "```"
	}
	r := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(x.id), Options: options,
		ToolCall: sdk.ToolCallUpdate{ToolCallId: sdk.ToolCallId(p.Call.ID), Title: &p.Title,
			Content: []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))}}}
	ctx, cancel := context.WithCancel(x.ctx)
	x.asks[p.ID] = cancel
	x.srv.work.Go(func() {
		res, err := sdk.SendRequest[sdk.RequestPermissionResponse](x.srv.conn, ctx,
			sdk.ClientMethodSessionRequestPermission, r)
		if ctx.Err() != nil || err == nil && res.Outcome.Selected == nil { // or session/cancel comes next
			return
		}
		if err == nil {
			_, err = x.hub.Decide(ctx, x.id, decisions[res.Outcome.Selected.OptionId])
		}
		if err != nil {
			x.say(p.Title + " waits for a decision; load the session to be asked again: " + err.Error())
		}
	})
}
