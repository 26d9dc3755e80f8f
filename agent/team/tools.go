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
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// The names of tools.
const (
	toolStart    = "team.start"
	toolStatus   = "team.status"
	toolTransfer = "transfer."
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
// They reach only work of their own conversation, which needs a name. Sessions of subagents and of
// members can't use them. They must be in [agent.Config].Tools.
func (t *Team) Tools() []tools.Tool {
	if t == nil {
		return nil
	}
	names, about := slices.Sorted(maps.Keys(t.cfg.Members)), ""
	for _, name := range names {
		about += "\n- " + name + ": " + t.cfg.Members[name].About
	}
	enum, _ := json.Marshal(map[string]any{"properties": map[string]any{"member": map[string]any{"enum": names}}})
	spec := func(name, description, required string) tools.Spec {
		return tools.Spec{Name: name, Description: description, Category: "team", Idempotent: true, NoRetries: true,
			NoBreaker: true, Schema: json.RawMessage(`{"required":[` + required + `]}`)}
	}
	start := spec(toolStart, "Has another agent do something in the background. It answers at once with the id of the "+
		"work. A message reports how it has ended, so don't wait for it. The agents are:"+about, "")
	start.Schema = enum
	status := spec(toolStatus, "Says how work in the background stands: all of it, or with an id one piece of it.", "")
	status.ReadOnly, status.Polls = true, true
	return []tools.Tool{
		tools.New(start, t.start),
		&statusTool{t: t, Tool: tools.New(status, func(ctx context.Context, in input) (string, error) {
			call, err := t.call(ctx)
			if err != nil {
				return "", err
			}
			return work.Do(ctx, &inquiry{t: t, lead: call.Session, id: in.ID})
		})},
		tools.New(spec("team.tell", "Sends a message to work in the background.", `"id","text"`), t.tell),
		tools.New(spec("team.stop", "Stops work in the background.", `"id"`), t.stop),
	}
}

// call returns the call that ctx belongs to. It charges what ended work has cost to its run.
func (t *Team) call(ctx context.Context) (*tools.Call, error) {
	call, ok := tools.CallOf(ctx)
	if !ok {
		return nil, fault.New(fault.Permanent, "team: the tools of a team run only in calls of an agent")
	}
	for _, other := range []string{prefix, machine.ChildPrefix, machine.UnnamedPrefix} {
		if strings.HasPrefix(call.Session, other) {
			return nil, fault.New(fault.Denied, "only a conversation that has a name can have work in the background, and "+
				"neither a subagent nor a member")
		}
	}
	if err := t.charge(ctx, call); err != nil { // the next call does it
		t.cfg.Logger.WarnContext(ctx, "team: the cost of work isn't charged", "session", call.Session, "error", err)
	}
	return call, nil
}

// charge charges what ended work has cost to the run of a call, once: a label of the work names the
// call, which charges it again if it runs again after a crash.
func (t *Team) charge(ctx context.Context, call *tools.Call) error {
	t.charging.Lock()
	defer t.charging.Unlock()
	list, err := t.list(ctx, journal.Filter{Parent: call.Session})
	key := hash(call.IdempotencyKey)
	for i := 0; i < len(list) && err == nil; i++ {
		w := &list[i]
		by := w.head.Labels[labelCharged]
		if !w.ended() || by != "" && by != key {
			continue
		}
		if by == "" {
			err = w.session().SetLabel(ctx, labelCharged, key)
		}
		if err == nil {
			err = agent.Book(ctx, provider.Usage{}, w.Cost)
		}
	}
	return err
}

// find returns the work of a conversation with an id.
func (t *Team) find(ctx context.Context, lead, id string) (w Work, err error) {
	m, ok := t.cfg.Members[memberOf(id)]
	if err = journal.ErrNoSession; ok {
		var h journal.Head
		h, err = m.Hub.Agent().Journal().Head(ctx, sessionOf(lead, id))
		w = workOf(h, m)
	}
	if errors.Is(err, journal.ErrNoSession) {
		err = fault.Errorf(fault.NotFound, "there is no work %q in this conversation; %s lists it", id, toolStatus)
	}
	return w, err
}

// start is team.start.
func (t *Team) start(ctx context.Context, in startInput) (string, error) {
	call, err := t.call(ctx)
	if err != nil {
		return "", err
	}
	id, labels := newID(in.Member, call.IdempotencyKey), map[string]string{labelWork: untold, labelRun: call.Run}
	maps.Copy(labels, call.Labels.Map())
	err = t.cfg.Members[in.Member].Hub.Agent().Enqueue(ctx, agent.Input{Session: sessionOf(call.Session, id),
		Parent: call.Session, Prompt: in.Task, Title: tools.CleanTitle(in.Task), Key: "start", User: call.User,
		Labels: labels}, agent.QueueOptions{})
	if err != nil && !errors.Is(err, agent.ErrDuplicate) { // the call runs again after a crash
		return "", err
	}
	t.look()
	return fmt.Sprintf("%s does it in the background, as %s. A message reports how it has ended.", in.Member, id), nil
}

// tell is team.tell.
func (t *Team) tell(ctx context.Context, in input) (string, error) {
	call, err := t.call(ctx)
	if err != nil {
		return "", err
	}
	w, err := t.find(ctx, call.Session, in.ID)
	if err == nil {
		_, err = w.session().Steer(ctx, in.Text, hash(call.IdempotencyKey))
	}
	if errors.Is(err, agent.ErrNothingOpen) {
		return "", fault.Errorf(fault.Invalid, "%s is %s, not running; only work that runs reads messages", w.ID, w.Status)
	}
	if err != nil && !errors.Is(err, agent.ErrDuplicate) {
		return "", err
	}
	return w.ID + " reads it before its next step.", nil
}

// stop is team.stop.
func (t *Team) stop(ctx context.Context, in input) (string, error) {
	call, err := t.call(ctx)
	if err != nil {
		return "", err
	}
	w, err := t.find(ctx, call.Session, in.ID)
	if err == nil {
		err = w.hub.Cancel(ctx, w.Session)
	}
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) {
		return "", err
	}
	t.look()
	return w.ID + " is stopped.", nil
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
	answered []string // the pauses that were decided on
}

// Advance implements work.Work.
func (q *inquiry) Advance(ctx context.Context) (work.Outcome, error) {
	text := ""
	if q.id == "" {
		list, err := q.t.list(ctx, journal.Filter{Parent: q.lead})
		if err != nil {
			return work.Outcome{}, err
		}
		for i := range list {
			text += list[i].line() + "\n"
		}
		text += fmt.Sprintf("%d pieces of work", len(list))
	} else {
		w, err := q.t.find(ctx, q.lead, q.id)
		if err != nil {
			return work.Outcome{}, err
		}
		res, err := w.session().Result(ctx)
		if err != nil {
			return work.Outcome{}, err
		}
		if pending := q.open(res); len(pending) > 0 && w.head.Inbox == 0 {
			return work.Outcome{Status: work.Waits, Pending: pending}, nil
		}
		if text = w.line(); w.ended() {
			text += "\n" + w.report(res)
		}
	}
	out, err := json.Marshal(text)
	return work.Outcome{Status: work.Done, Output: out}, err
}

// open returns the pauses that are still to be decided on.
func (q *inquiry) open(res *agent.Result) []agent.Pause {
	return slices.DeleteFunc(res.Suspended(), func(p agent.Pause) bool {
		return !slices.ContainsFunc(p.Flat(), func(p agent.Pause) bool { return !slices.Contains(q.answered, p.ID) })
	})
}

// Check implements work.Work. [inquiry.Decide] rejects what turns out not to fit.
func (q *inquiry) Check(_ context.Context, d machine.Decision) (machine.Decision, error) {
	return d, d.Err()
}

// Decide implements work.Work. The work goes on at once, and not as a part of the call.
func (q *inquiry) Decide(ctx context.Context, ds ...machine.Decision) error {
	w, err := q.t.find(ctx, q.lead, q.id)
	for _, d := range ds {
		q.answered = append(q.answered, d.ID)
		if err != nil || d.Kind == machine.Expired { // the session of the work closes the pause itself
			continue
		}
		_, err = w.hub.Decide(context.Background(), w.Session, d)
		wrong, refused := errors.AsType[*agent.DecisionError](err)
		if refused && wrong.Code == machine.DecisionBad {
			_, err = w.hub.Decide(context.Background(), w.Session, agent.Reject(d.ID, wrong.Problem).By(d.User))
		}
		if errors.As(err, &wrong) || errors.Is(err, agent.ErrNothingOpen) { // it was decided before, or has ended
			err = nil
		}
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
