package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// An inboxItem is a request to a session, from this or another process. It waits in the session's
// inbox in the store until the process that drives the session reads it: at the next safe point of
// a run, or when a run starts or is resumed.
type inboxItem struct {
	ID   string    `json:"-"`
	Kind string    `json:"-"`
	Time time.Time `json:"-"` // when it was posted, or, of decisions, checked

	Text string `json:"text,omitempty"` // a message, a mode, or the tool of a rule
	By   string `json:"by,omitempty"`
	Key  string `json:"key,omitempty"` // of a message
	// those that don't fit when they are taken open their pauses again
	Decisions []Decision `json:"decisions,omitempty"`
}

// The kinds of inbox items.
const (
	itemSteer  = "steer"
	itemStop   = "stop"
	itemPause  = "pause"
	itemCancel = "cancel"
	itemMode   = "mode"
	itemRevoke = "revoke"
	itemTitle  = "title"
	itemDecide = "decide"
)

// post puts an item into the inbox of a session, and wakes its run if that is in this process.
func (a *Agent) post(ctx context.Context, session string, it inboxItem) error {
	data, err := machine.Marshal(it)
	if err != nil {
		return fmt.Errorf("agent: session %q: encoding an inbox item: %w", session, err)
	}
	item := journal.Item{ID: it.ID, Kind: it.Kind, Time: it.Time.UTC(), Data: data}
	if it.Time.IsZero() {
		item.Time = time.Now().UTC()
	}
	for _, d := range it.Decisions {
		item.Closes = append(item.Closes, d.ID)
	}
	if err := a.store.Post(ctx, session, item); err != nil {
		return fmt.Errorf("agent: session %q: posting to its inbox: %w", session, err)
	}
	if x := a.driverOf(session); x != nil {
		x.poke()
	}
	return nil
}

// driverOf returns the driver of a session in this process, or nil. Its run may have ended, but not
// yet been released.
func (a *Agent) driverOf(session string) *driver {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.held[session]; l != nil {
		return l.driver
	}
	return nil
}

// send posts an item to the run of a session, in this or another process. If no run is in progress,
// the error is [ErrNothingOpen].
func (a *Agent) send(ctx context.Context, session string, it inboxItem) (id string, err error) {
	if err := a.inProgress(ctx, session); err != nil {
		return "", err
	}
	if it.ID == "" {
		it.ID = newID("m-")
	}
	return it.ID, a.post(ctx, session, it)
}

// inProgress returns [ErrNothingOpen] if no run of the session is in progress, in this or
// another process.
func (a *Agent) inProgress(ctx context.Context, session string) error {
	a.mu.Lock()
	l := a.held[session]
	here := l != nil && l.driver != nil && !l.ending
	a.mu.Unlock()
	if here {
		return nil
	}
	head, err := a.store.Head(ctx, session)
	switch {
	case errors.Is(err, journal.ErrNoSession):
		return &SessionError{Session: session, Code: ErrNothingOpen}
	case err != nil:
		return fmt.Errorf("agent: session %q: reading its head: %w", session, err)
	case head.Status != string(Running) || head.Owner == "" || head.Until.Before(time.Now()):
		return &SessionError{Session: session, Code: ErrNothingOpen, Status: Status(head.Status)}
	}
	return nil
}

// change posts a revocation or a title to the run in progress. If no run is in progress, the error
// is [ErrNothingOpen]. A run that has just ended reads the item as it is released (takeLate).
// If it was posted too late for that, change acts on it, or, if the session is busy again, whoever
// holds it does.
func (a *Agent) change(ctx context.Context, session string, it inboxItem) error {
	it.ID = newID("m-")
	if a.driverOf(session) == nil {
		if err := a.inProgress(ctx, session); err != nil {
			return err
		}
	}
	if err := a.post(ctx, session, it); err != nil {
		return err
	}
	if a.driverOf(session) != nil || !errors.Is(a.inProgress(ctx, session), ErrNothingOpen) {
		return nil
	}
	l, err := a.open(ctx, session)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.close()
	l.takePosted(false)
	return nil
}

// inbox returns the items in the session's inbox, oldest first, and leaves them there. Items that
// can't be read have no content.
func (l *sessionLog) inbox() (items []inboxItem) {
	if l.lost() {
		return nil
	}
	posted, err := l.agent.store.Take(l.stored, l.name, l.lease.Fence)
	if err != nil {
		if _, ok := errors.AsType[*journal.ConflictError](err); ok {
			l.cancel(&SessionError{Session: l.name, Code: ErrBusy, Err: err})
		}
		l.agent.logger.WarnContext(l.ctx, "agent: reading the inbox", "session", l.name, "error", err)
		return nil
	}
	for _, p := range posted {
		it := inboxItem{}
		if err := json.Unmarshal(p.Data, &it); err != nil {
			l.agent.logger.WarnContext(l.ctx, "agent: an inbox item can't be read and is ignored", "session", l.name,
				"item", p.ID, "error", err)
		}
		it.ID, it.Kind, it.Time = p.ID, p.Kind, p.Time
		items = append(items, it)
	}
	return items
}

// remove removes an item from the inbox before it is acted on. It returns false if the item is
// still there.
func (l *sessionLog) remove(id string) bool {
	l.lock()
	app := journal.Append{Session: l.name, After: l.state().Seq, Fence: l.lease.Fence, Taken: []string{id}}
	l.mu.Unlock()
	if err := l.agent.store.Append(l.stored, app); err != nil {
		l.agent.logger.WarnContext(l.ctx, "agent: removing an inbox item", "session", l.name, "item", id, "error", err)
		return journal.Unclear(err) // if it is gone, this is the only process that knows it
	}
	return true
}

// takePosted acts on what was posted to a session before its run started or was resumed: on
// revocations and titles, and on decisions if the caller wants that. It returns the number of
// decisions that it took, and the ids of the other items.
func (l *sessionLog) takePosted(decisions bool) (taken int, others []string) {
	for _, it := range l.inbox() {
		switch {
		case it.Kind == itemRevoke:
			l.takeRevocation(&it)
		case it.Kind == itemTitle:
			l.takeTitle(&it)
		case it.Kind == itemDecide && decisions:
			if l.takeDecisions(&it, true) {
				taken++
			}
		default:
			others = append(others, it.ID)
		}
	}
	return taken, others
}

// readInbox acts on the items in the inbox, at a safe point. Messages are delivered only between
// steps, when no call is open; until then they stay in the inbox. It reports whether anything was
// done.
func (x *driver) readInbox() (done bool) {
	var messages []inboxItem
	for _, it := range x.inbox() {
		switch it.Kind {
		case itemSteer:
			messages = append(messages, it)
			continue
		case itemDecide:
			x.takeDecisions(&it, false)
		case itemRevoke:
			x.takeRevocation(&it)
		case itemTitle:
			x.takeTitle(&it)
		default:
			if !x.remove(it.ID) {
				continue
			}
			x.obey(&it)
		}
		done = true
	}
	if x.requested == requestNone && x.drains() {
		x.requested = requestDrain
	}
	r := x.run() // a decision may have closed its last open call
	between := (r.Stage == machine.StageReady || r.Stage == machine.StageReplied) && r.Final == "" && r.Direct == nil
	if between && x.requested == requestNone {
		for _, it := range messages {
			done = x.deliver(&it) || done
		}
	}
	x.flush()
	return done
}

// A hostRequest says that the host wants a run to stop or to pause.
type hostRequest uint8

const (
	requestNone hostRequest = iota
	requestStop
	requestPause
	requestDrain // a pause after which Recover resumes the run
)

// obey acts on an item that stops, pauses or switches the run.
func (x *driver) obey(it *inboxItem) {
	switch it.Kind {
	case itemStop, itemCancel:
		x.requested = requestStop
	case itemPause:
		if x.requested == requestNone {
			x.requested = requestPause
		}
	case itemMode:
		if err := x.setMode(x.stored, it.Text, "set by the host"); err != nil { // of a host with other modes
			x.agent.logger.WarnContext(x.ctx, "agent: switching the mode", "session", x.name, "error", err)
		}
	}
}

// grant ends or pauses the run as the host has requested.
func (x *driver) grant() {
	request := x.requested
	x.requested = requestNone
	switch request {
	case requestPause:
		x.finish(Paused, machine.CodeHost, errPaused)
	case requestDrain:
		x.finish(Paused, machine.CodeDrained, errDrained)
	default:
		x.finish(Stopped, machine.CodeHost, &StopError{Code: machine.CodeHost, Err: errStopped})
	}
}

// deliver adds a message to the conversation and removes it from the inbox, in one append.
func (x *driver) deliver(it *inboxItem) bool {
	err := x.appendTaking([]string{it.ID}, &machine.Steered{ID: it.ID, Key: it.Key, Message: provider.User(it.Text)})
	if err != nil {
		return false
	}
	if x.memory != nil {
		x.memory.asked = false
	}
	x.delivered = append(x.delivered, it.ID) // their receipts are settled when the model call has begun
	return true
}

// Rules returns the standing approvals of the session, oldest first.
func (s *Session) Rules(ctx context.Context) ([]Rule, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(m.State().Rules), nil
}

// Revoke ends the standing approvals of a tool, in all scopes: from then on its calls ask again. by
// says who revokes it. A run that is under way, here or in another process, acts on it at its next
// safe point, before it takes up other calls; if there is none, it is done before the session's
// next run begins. Without a standing approval to end, that is [ErrNoRule]; for a run under
// way it is logged there.
func (s *Session) Revoke(ctx context.Context, tool, by string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	err = s.agent.change(ctx, s.id, inboxItem{Kind: itemRevoke, Text: tool, By: by})
	if !errors.Is(err, ErrNothingOpen) {
		return err
	}
	l, err := s.agent.openKnown(ctx, s.id)
	if errors.Is(err, ErrNothingOpen) {
		return noRule(s.id, tool)
	}
	if err != nil {
		return err
	}
	defer l.close()
	return l.revoke(nil, tool, by)
}

func noRule(session, tool string) error {
	return &SessionError{Session: session, Code: ErrNoRule,
		Problem: fmt.Sprintf("it has no standing approval of %q", tool)}
}

// revoke appends that a rule is revoked. items is the inbox item that asks for it.
func (l *sessionLog) revoke(items []string, tool, by string) error {
	l.lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.state().Rules, func(r Rule) bool { return r.Tool == tool }) {
		return noRule(l.name, tool)
	}
	return l.appendLocked(items, redactedFact{&machine.RuleRevoked{Meta: Meta{By: by}, Tool: tool}})
}

// takeRevocation does what an inbox item asks for. It leaves the inbox in the same append.
func (l *sessionLog) takeRevocation(it *inboxItem) {
	err := l.revoke([]string{it.ID}, it.Text, it.By)
	if errors.Is(err, ErrNoRule) {
		l.remove(it.ID)
	}
	if err != nil {
		l.agent.logger.WarnContext(l.ctx, "agent: revoking a rule", "session", l.name, "error", err)
	}
}

// takeLate acts on revocations and titles that were posted to a run too late for its last safe
// point. It looks only if there may be some: there are rules to revoke, or this process has posted
// something (see poke). What another process posted waits for the next run.
func (x *driver) takeLate() {
	if len(x.state().Rules) == 0 && len(x.wake) == 0 {
		return
	}
	for _, it := range x.inbox() {
		switch it.Kind {
		case itemRevoke:
			x.takeRevocation(&it)
		case itemTitle:
			x.takeTitle(&it)
		}
	}
}
