package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// An inbox is what was sent to a run.
type inbox struct {
	log       *sessionLog
	consumer  *consumer
	stops     *stops
	decisions *decisions
	pending   *pending
	requested hostRequest // what the host asked for
	delivered int         // messages
}

// An itemKind says what is done with the items of one kind. One of its fields is set.
type itemKind struct {
	message   bool        // for the conversation; read between steps
	decisions bool        // on pauses
	request   hostRequest // of the run in progress
	// change returns the fact by which an item changes the session, whether or not a run is in
	// progress, or why it can't; nil if it changes nothing.
	change func(*sessionLog, *session.Item) (Fact, error)
}

// itemKinds has all kinds of items. What is posted by a newer version may have another kind: see
// takeUnknown. To add a kind, add it here and to the constants of package session. A request is
// carried out in granted, or in Posted if it has its effect at once.
var itemKinds = map[string]itemKind{
	session.ItemSteer:  {message: true},
	session.ItemDecide: {decisions: true},
	session.ItemStop:   {request: requestStop},
	session.ItemPause:  {request: requestPause},
	session.ItemCancel: {request: requestCancel},
	session.ItemRevoke: {change: (*sessionLog).revoked},
	session.ItemTitle:  {change: (*sessionLog).titled},
	session.ItemLabel:  {change: (*sessionLog).labeled},
	session.ItemMode:   {change: (*sessionLog).switched},
}

// takePosted acts on what was posted to a session before its run started or was resumed: on
// revocations, titles and labels, and, unless ds is nil, on decisions. It returns the number of
// decisions that it took, the ids of the other items, and why a decision waits: see decisions.take.
func (l *sessionLog) takePosted(ds *decisions) (taken int, others []string, later error) {
	for _, it := range l.Inbox() {
		kind, known := itemKinds[it.Kind]
		switch {
		case !known:
			l.takeUnknown(&it)
		case l.takeChange(&it):
		case kind.decisions && ds != nil:
			took, waits := ds.take(&it, true)
			if later = cmp.Or(later, waits); took {
				taken++
			}
		case kind.message && l.Expects(&it): // to the run that begins
		default:
			others = append(others, it.ID)
		}
	}
	return taken, others, later
}

// read acts on the items in the inbox, at a safe point. Messages are delivered only between steps,
// when no call is open; until then they stay in the inbox. It reports whether anything was done.
func (b *inbox) read() (done bool) {
	b.pending.unread = false
	var messages []session.Item
	for _, it := range b.log.Inbox() {
		kind, known := itemKinds[it.Kind]
		late := (kind.message || kind.request != requestNone) && b.log.isLate(&it, b.log.Run().Start)
		switch {
		case !known:
			continue
		case late:
			b.log.Remove(it.ID)
			continue
		case kind.message:
			messages = append(messages, it)
			continue
		case kind.decisions:
			b.decisions.take(&it, false)
		case kind.change != nil:
			b.log.takeChange(&it)
			b.stops.limitTime() // of the mode
		case !b.log.Remove(it.ID):
			continue
		case kind.request == requestCancel:
			b.log.Cancel(&StopError{Code: machine.CodeCanceled, Err: errCanceled})
		default:
			b.requested = max(b.requested, kind.request)
		}
		done = true
	}
	if b.requested == requestNone && b.log.drains() {
		b.requested = requestDrain
	}
	r := b.log.Run() // a decision may have closed its last open call
	between := (r.Stage == machine.StageReady || r.Stage == machine.StageReplied) && r.Final == "" && r.Direct == nil
	if between && b.requested == requestNone {
		for _, it := range messages {
			if b.deliver(&it) {
				b.delivered++
				done = true
			}
		}
	}
	b.consumer.flush()
	return done
}

// keepUnknown is how long an item of a kind that this version doesn't know stays in the inbox. That
// is enough for a deployment in which processes of both versions run. If nobody has taken it by
// then, it is removed, because a session with something in its inbox counts as decided.
const keepUnknown = time.Hour

// takeUnknown removes an item of an unknown kind, and logs that, when nobody has taken it in time.
func (l *sessionLog) takeUnknown(it *session.Item) {
	if time.Since(it.Time) > keepUnknown {
		l.Remove(it.ID)
		l.agent.logger.WarnContext(l.ctx, "agent: an inbox item of an unknown kind is removed, because nobody has taken it",
			"session", l.Name, "item", it.ID, "kind", it.Kind, "posted", it.Time)
	}
}

// stopPosted ends a run that waits, if it was stopped too late for its last safe point.
func (b *inbox) stopPosted() {
	for _, it := range b.log.Inbox() {
		code, reason := machine.CodeHost, errStopped
		switch itemKinds[it.Kind].request {
		case requestStop:
		case requestCancel:
			code, reason = machine.CodeCanceled, errCanceled
		default:
			continue
		}
		b.log.warn("agent: stopping a run that waits", b.log.endOpen(code, reason))
		b.log.Remove(it.ID)
		return
	}
}

// Posted implements [session.Holder]. What ends the work in progress has its effect at once;
// everything else waits for the next safe point.
func (b *inbox) Posted(items []session.Item) {
	b.log.Lock()
	start := b.log.Run().Start
	b.log.Unlock()
	for i := range items {
		if b.log.isLate(&items[i], start) {
			continue
		}
		switch itemKinds[items[i].Kind].request {
		case requestCancel: // it stays in the inbox until the run has ended
			b.log.Cancel(&StopError{Code: machine.CodeCanceled, Err: errCanceled})
		case requestStop:
			b.stops.haltNow()
		}
	}
}

// isLate reports whether an item was sent to an earlier run than the one that began with the fact
// of that number.
func (l *sessionLog) isLate(it *session.Item, start uint64) bool {
	return it.After > 0 && it.After < start && !l.Expects(it)
}

// A hostRequest says that the host wants a run to pause or to stop. Of several, the largest counts,
// but for requestCancel, which ends the context of the run at once.
type hostRequest uint8

const (
	requestNone  hostRequest = iota
	requestLeg               // a pause after which Recover resumes the run
	requestDrain             // likewise
	requestPause
	requestStop
	requestCancel // a stop that cuts off what is in progress
)

// granted returns how the run ends or pauses as the host has requested.
func (b *inbox) granted() *outcome {
	request := b.requested
	b.requested = requestNone
	return request.outcome()
}

// outcome returns how a run ends or pauses because of a request.
func (r hostRequest) outcome() *outcome {
	switch r {
	case requestPause:
		return ending(Paused, machine.CodeHost, errPaused)
	case requestDrain:
		return ending(Paused, machine.CodeDrained, errDrained)
	case requestLeg:
		return ending(Paused, machine.CodeLeg, errLegOver)
	}
	return stopping(machine.CodeHost, &StopError{Code: machine.CodeHost, Err: errStopped})
}

// interruption returns how a run ends that can't go on, or that somebody has stopped since its last
// safe point. Nil: neither.
func (b *inbox) interruption() *outcome {
	if out := b.stops.cutOff(); out != nil {
		return out
	}
	if b.read() && b.requested == requestStop {
		return b.granted()
	}
	return b.stops.cutOff() // by what was in the inbox
}

// unlessStopped returns the outcome of a step whose model call can't be made. If the run can't go
// on, or makes no further calls because it was stopped, that is how it ends.
func (b *inbox) unlessStopped(out *outcome) *outcome {
	if b.stops.halt.Err() == nil {
		return cmp.Or(b.stops.cutOff(), out)
	}
	return cmp.Or(b.interruption(), out)
}

// deliver adds a message to the conversation and removes it from the inbox, in one append. One with
// a key that the session has had since it was sent is only removed.
func (b *inbox) deliver(it *session.Item) bool {
	if duplicate(b.log.State(), it.Key) != nil {
		return b.log.Remove(it.ID)
	}
	return b.log.Append([]string{it.ID}, &machine.Steered{ID: it.ID, Key: it.Key, Message: provider.User(it.Text),
		Outside: it.Outside}) == nil
}

func noRule(session, tool string) error {
	return &SessionError{Session: session, Code: ErrNoRule,
		Problem: fmt.Sprintf("it has no standing approval of %q", tool)}
}

func (l *sessionLog) revoked(it *session.Item) (Fact, error) {
	if !slices.ContainsFunc(l.State().Rules, func(r Rule) bool { return r.Tool == it.Text }) {
		return nil, noRule(l.Name, it.Text)
	}
	return &machine.RuleRevoked{Meta: Meta{By: it.By}, Tool: it.Text}, nil
}

func (l *sessionLog) titled(it *session.Item) (Fact, error) {
	return &machine.TitleChanged{Title: it.Text}, checkNewTitle(it.Text)
}

func (l *sessionLog) labeled(it *session.Item) (Fact, error) {
	return &machine.LabelChanged{Key: it.Key, Value: it.Text}, checkLabel(it.Key, it.Text, l.State())
}

func (l *sessionLog) switched(it *session.Item) (Fact, error) {
	_, err := l.agent.mode(it.Text) // another version may have other modes
	return l.toMode(it.Text, byHost), err
}

// takeChange acts on an item that changes the session, and reports whether it is one. The item
// leaves the inbox with the change, or because the change can't be made.
func (l *sessionLog) takeChange(it *session.Item) bool {
	change := itemKinds[it.Kind].change
	if change == nil {
		return false
	}
	f, err := change(l, it)
	if f != nil && err == nil {
		err = l.Append([]string{it.ID}, f)
	} else {
		l.Remove(it.ID)
	}
	l.warn("agent: a change of the session", err, "kind", it.Kind)
	return true
}

// takeLate ends a run that was canceled while it paused, and acts on revocations, titles and labels
// that were posted to a run too late for its last safe point. For these it looks only if there may
// be some: there are rules to revoke, or something was posted during the run (see Poke). What
// nobody has noticed waits for the next run.
func (b *inbox) takeLate() {
	if b.log.paused() && errors.Is(context.Cause(b.log.ctx), errCanceled) {
		if err := b.log.endOpen(machine.CodeCanceled, errCanceled); err != nil {
			b.log.agent.logger.ErrorContext(b.log.Stored, "agent: canceling a paused run", "session", b.log.Name,
				"error", err)
		}
	}
	if len(b.log.State().Rules) == 0 && !b.consumer.poked.Load() {
		return
	}
	for _, it := range b.log.Inbox() {
		b.log.takeChange(&it)
	}
}

// dropMessages removes what was sent to a run from the inbox: when it is over, all messages, and
// the requests to stop it that came too late or were carried out at once; else the messages that
// were sent to an earlier one. If the run goes on in another leg or another process, they stay.
func (b *inbox) dropMessages(all bool) {
	if b.log.Run().IsOpen() && !b.log.waits() || !b.consumer.poked.Load() && !b.log.paused() {
		return
	}
	for _, it := range b.log.Inbox() {
		kind := itemKinds[it.Kind]
		if kind.message && (all || !b.log.Expects(&it)) || kind.request != requestNone && all && !b.log.Run().IsOpen() {
			b.log.Remove(it.ID)
		}
	}
}
