package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// The names of tools.
const (
	toolStart  = "team.start"
	toolStatus = "team.status"
)

type startInput struct {
	Member string `json:"member"`
	Task   string `json:"task" jsonschema:"What to do, with all that is needed to know: nothing else of this conversation is seen."`
}

type input struct {
	ID   string `json:"id,omitempty" jsonschema:"of the work, as team.start has answered"`
	Text string `json:"text,omitempty" jsonschema:"of the message"`
}

// Tools returns the tools of the lead's agent:
//
//   - team.start has a member do something in the background, and answers with the id of the work.
//   - team.status says how all work of the conversation stands, or one piece of it, with its report
//     if it has ended. If that piece waits for a person, so does the call.
//   - team.tell sends a message to work in progress.
//   - team.stop stops work.
//
// They reach only work of their own conversation, which needs a name. Subagents can't use them.
// They must be in [agent.Config].Tools. A mode that leaves team.status out keeps back what work
// asks.
func (t *Team) Tools() []tools.Tool {
	if t == nil {
		return nil
	}
	names, about := slices.Sorted(maps.Keys(t.cfg.Members)), ""
	for _, name := range names {
		about += "\n- " + name + ": " + t.cfg.Members[name].About
	}
	spec := tools.Spec{Category: "team", Idempotent: true, NoRetries: true, NoBreaker: true}
	start, status, tell, stop := spec, spec, spec, spec
	start.Name, start.Description = toolStart, "Has another agent do something in the background. It answers at once with "+
		"the id of the work. A message reports how it has ended, so don't wait for it. The agents are:"+about
	start.Schema, _ = json.Marshal(map[string]any{"properties": map[string]any{"member": map[string]any{
		"enum": names}}})
	status.Name, status.ReadOnly, status.Polls = toolStatus, true, true
	status.Description = "Says how work in the background stands: all of it, or with an id one piece of it."
	tell.Name, tell.Description = "team.tell", "Sends a message to work in the background."
	stop.Name, stop.Description = "team.stop", "Stops work in the background."
	return []tools.Tool{newTool(start, t.start), &statusTool{newTool(status, t.status), t},
		newTool(tell, t.tell), newTool(stop, t.stop)}
}

// newTool returns a tool.
func newTool[In, Out any](spec tools.Spec, do func(context.Context, *tools.Call, In) (Out, error)) tools.Tool {
	return tools.New(spec, func(ctx context.Context, in In) (out Out, err error) {
		call, ok := tools.CallOf(ctx)
		if !ok || strings.HasPrefix(call.Session, machine.ChildPrefix) ||
			strings.HasPrefix(call.Session, machine.UnnamedPrefix) {
			return out, fault.New(fault.Denied, "only a conversation that has a name can have work in the background, and "+
				"no subagent can")
		}
		return do(ctx, call, in)
	})
}

// start is team.start. A call that runs again after a crash finds the work that it has started.
func (t *Team) start(ctx context.Context, call *tools.Call, in startInput) (string, error) {
	id, labels := in.Member+"-"+hash(call.IdempotencyKey)[:8], make(map[string]string)
	maps.Copy(labels, call.Labels.Map())
	labels[labelWork], labels[labelRun] = unreported, call.Run
	hub, name := t.cfg.Members[in.Member].Hub, sessionOf(call.Session, id)
	err := hub.Agent().Enqueue(ctx, agent.Input{Session: name, Parent: call.Session, Prompt: in.Task,
		Title: tools.CleanTitle(in.Task), Key: "start", User: call.User, Labels: labels}, agent.QueueOptions{})
	if err != nil && !errors.Is(err, agent.ErrDuplicate) {
		return "", err
	}
	return fmt.Sprintf("%s does it in the background, as %s. A message reports how it has ended.", in.Member, id), nil
}

// status is team.status.
func (t *Team) status(ctx context.Context, call *tools.Call, in input) (tools.Result, error) {
	return work.Do(ctx, &inquiry{t: t, lead: call.Session, id: in.ID})
}

// tell is team.tell.
func (t *Team) tell(ctx context.Context, call *tools.Call, in input) (string, error) {
	w, _, err := t.find(ctx, call.Session, in.ID)
	if err == nil {
		_, err = w.session().Steer(ctx, in.Text, hash(call.IdempotencyKey))
	}
	switch {
	case errors.Is(err, agent.ErrNothingOpen):
		err = fault.Errorf(fault.Invalid, "%s is %s, not running; only work that runs reads messages", w.ID, w.Status)
	case errors.Is(err, agent.ErrDuplicate): // the call runs again after a crash
		err = nil
	}
	return w.ID + " reads it before its next step.", err
}

// stop is team.stop.
func (t *Team) stop(ctx context.Context, call *tools.Call, in input) (string, error) {
	w, _, err := t.find(ctx, call.Session, in.ID)
	if err == nil {
		err = later(w.hub.Cancel(ctx, w.Session))
	}
	return w.ID + " is stopped.", err
}

// A statusTool is team.status. A call of it shows what a piece of work waits for as a call of a
// subagent does: the pauses are the call's, and are decided on in its session.
type statusTool struct {
	tools.Tool
	t *Team
}

var _ work.Owner = (*statusTool)(nil)

// Work implements work.Owner.
func (s *statusTool) Work(session, _ string, raw json.RawMessage) (work.Work, error) {
	var in input
	err := json.Unmarshal(raw, &in)
	return &inquiry{t: s.t, lead: session, id: in.ID}, err
}

// Journals implements work.Owner. The sessions of work are children of their conversation, and are
// deleted with it.
func (s *statusTool) Journals() (stores []journal.Store) {
	for _, m := range s.t.cfg.Members {
		stores = append(stores, m.Hub.Agent().Journal())
	}
	return stores
}

// An inquiry is a call of team.status, by the model or by [Team.Run]. The work outlives the call.
type inquiry struct {
	t        *Team
	lead, id string
}

// Advance implements work.Work.
func (q *inquiry) Advance(ctx context.Context) (work.Outcome, error) {
	var text string
	outside := false
	if q.id == "" {
		list, err := q.t.list(ctx, journal.Filter{Parent: q.lead})
		if err != nil {
			return work.Outcome{}, err
		}
		text = fmt.Sprintf("%d pieces of work", len(list))
		for _, w := range list {
			text += fmt.Sprintf("\n%s is %s: %s", w.ID, w.standing(), w.Task)
		}
	} else {
		w, res, err := q.t.find(ctx, q.lead, q.id)
		if err != nil {
			return work.Outcome{}, err
		}
		if pending := res.Suspended(); len(pending) > 0 && w.head.Inbox == 0 {
			return work.Outcome{Status: work.Waits, Pending: pending}, nil
		}
		text, outside = w.text(res, 1<<20), res.Outside
	}
	out, err := json.Marshal(text)
	return work.Outcome{Status: work.Done, Output: out, Outside: outside}, err
}

// Check implements work.Work. The agent of the work checks what is decided when it gets the
// decision, but who decides also before.
func (q *inquiry) Check(ctx context.Context, d machine.Decision) (machine.Decision, error) {
	w, _, err := q.t.find(ctx, q.lead, q.id)
	if err != nil {
		return d, nil
	}
	err = w.session().MayDecide(ctx, d.ID, d.User)
	wrong, refused := errors.AsType[*agent.DecisionError](err)
	if refused && wrong.Code == machine.DecisionForbidden || errors.As(err, new(*agent.RolesError)) {
		return d, err
	}
	return d, nil
}

// Decide implements work.Work. The work goes on at once, and not as a part of the call. What was
// decided elsewhere, or is deleted, stays as it is; a decision that doesn't fit is a rejection, but
// not one by somebody who may not decide.
func (q *inquiry) Decide(ctx context.Context, ds ...machine.Decision) error {
	w, _, err := q.t.find(ctx, q.lead, q.id)
	for i := 0; i < len(ds) && err == nil; i++ {
		d := ds[i]
		if d.Kind == machine.Expired {
			d = agent.Reject(d.ID, "Nobody has decided in time.")
		}
		_, err = w.hub.Decide(context.Background(), w.Session, d)
		wrong, _ := errors.AsType[*agent.DecisionError](err)
		switch {
		case wrong == nil:
		case wrong.Code == machine.DecisionForbidden: // its pause opens again, for somebody else
			err = session.PostUnchecked(ctx, w.hub.Agent().Journal(), w.Session, d)
			if err == nil || errors.As(err, new(*journal.PostedError)) {
				_, err = w.hub.Start(context.Background(), agent.Continue(w.Session))
			}
			if errors.Is(err, agent.ErrBusy) { // who drives it reads the decision
				err = nil
			}
		case wrong.Code == machine.DecisionBad:
			_, err = w.hub.Decide(context.Background(), w.Session, agent.Reject(d.ID, wrong.Problem).By(d.User))
		}
		if errors.As(err, new(*agent.DecisionError)) || errors.Is(err, agent.ErrNothingOpen) {
			err = nil
		}
	}
	if fault.Of(err) == fault.NotFound {
		return nil
	}
	return err
}

// Cancel implements work.Work.
func (*inquiry) Cancel(context.Context, string) error { return nil }

// Undo implements work.Work.
func (*inquiry) Undo(context.Context, string) (*machine.UndoReceipt, error) {
	return new(machine.UndoReceipt), nil
}

// Delete implements work.Work.
func (*inquiry) Delete(context.Context) error { return nil }
