package agent

import (
	"cmp"
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// An inbox is what was sent to a run.
type inbox struct {
	*sessionLog
	*consumer
	receipts  receipts
	requested hostRequest // what the host asked for
	delivered []string    // messages in the conversation that the model hasn't been asked about yet
}

// takePosted acts on what was posted to a session before its run started or was resumed: on
// revocations, titles and labels, and on decisions if the caller wants that. It returns the number
// of decisions that it took, and the ids of the other items.
func (l *sessionLog) takePosted(decisions bool) (taken int, others []string) {
	for _, it := range l.Inbox() {
		switch {
		case l.takeChange(&it):
		case it.Kind == session.ItemDecide && decisions:
			if l.takeDecisions(&it, true) {
				taken++
			}
		default:
			others = append(others, it.ID)
		}
	}
	return taken, others
}

// needsNoLook reports whether the append that follows on an action at a safe point looks into the
// inbox itself ([session.Log.AppendQuiet]), and may have what was deferred before it: nothing slow
// lies between.
func (b *inbox) needsNoLook(act machine.Action) bool {
	if b.unread || b.left || b.requested != requestNone || b.ctx.Err() != nil || b.drains() || b.leg.endsBefore(act) {
		return false
	}
	return act.Kind == machine.ActCallModel && b.agent.quickSteps && act.Final == "" && !act.Again ||
		act.Kind == machine.ActRunCalls && b.agent.quickCalls
}

// readInbox acts on the items in the inbox, at a safe point. Messages are delivered only between
// steps, when no call is open; until then they stay in the inbox. It reports whether anything was
// done.
func (x *driver) readInbox() (done bool) {
	x.unread = false
	var messages []session.Item
	for _, it := range x.Inbox() {
		switch it.Kind {
		case session.ItemSteer:
			messages = append(messages, it)
			continue
		case session.ItemDecide:
			x.takeDecisions(&it, false)
		case session.ItemRevoke, session.ItemMode, session.ItemTitle, session.ItemLabel:
			x.takeChange(&it)
			x.limitTime() // of the mode
		default:
			switch {
			case !x.Remove(it.ID):
				continue
			case it.Kind == session.ItemStop, it.Kind == session.ItemCancel:
				x.requested = requestStop
			case it.Kind == session.ItemPause && x.requested == requestNone:
				x.requested = requestPause
			}
		}
		done = true
	}
	if x.requested == requestNone && x.drains() {
		x.requested = requestDrain
	}
	r := x.Run() // a decision may have closed its last open call
	between := (r.Stage == machine.StageReady || r.Stage == machine.StageReplied) && r.Final == "" && r.Direct == nil
	if between && x.requested == requestNone {
		for _, it := range messages {
			if x.deliver(&it) {
				done = true
				if x.memory != nil {
					x.memory.asked = false
				}
			}
		}
	}
	x.flush()
	return done
}

// stopPosted ends a run that waits, if it was stopped too late for its last safe point.
func (l *sessionLog) stopPosted() {
	for _, it := range l.Inbox() {
		if it.Kind == session.ItemStop || it.Kind == session.ItemCancel {
			l.warn("agent: stopping a run that waits", l.endOpen(machine.CodeHost, errStopped))
			l.Remove(it.ID)
			return
		}
	}
}

// A hostRequest says that the host wants a run to stop or to pause.
type hostRequest uint8

const (
	requestNone hostRequest = iota
	requestStop
	requestPause
	requestDrain // a pause after which Recover resumes the run
	requestLeg   // likewise
)

// grant ends or pauses the run as the host has requested.
func (x *driver) grant() {
	request := x.requested
	x.requested = requestNone
	switch request {
	case requestPause:
		x.finish(Paused, machine.CodeHost, errPaused)
	case requestDrain:
		x.finish(Paused, machine.CodeDrained, cmp.Or(x.heldBy, error(errDrained)))
	case requestLeg:
		x.finish(Paused, machine.CodeLeg, errLegOver)
	default:
		x.finish(Stopped, machine.CodeHost, &StopError{Code: machine.CodeHost, Err: errStopped})
	}
}

// deliver adds a message to the conversation and removes it from the inbox, in one append. One with
// a key that the session has had since it was sent is only removed.
func (b *inbox) deliver(it *session.Item) bool {
	if duplicate(b.State(), it.Key) != nil {
		return b.Remove(it.ID)
	}
	err := b.Append([]string{it.ID}, &machine.Steered{ID: it.ID, Key: it.Key, Message: provider.User(it.Text)})
	if err != nil {
		return false
	}
	b.delivered = append(b.delivered, it.ID) // their receipts are settled when the model call has begun
	return true
}

// takeLate ends a run that was canceled while it paused, and acts on revocations, titles and labels
// that were posted to a run too late for its last safe point. For these it looks only if there may
// be some: there are rules to revoke, or this process has posted something (see Poke). What another
// process posted waits for the next run.
func (b *inbox) takeLate() {
	if b.paused() && errors.Is(context.Cause(b.ctx), errCanceled) {
		if err := b.endOpen(machine.CodeCanceled, errCanceled); err != nil {
			b.agent.logger.ErrorContext(b.Stored, "agent: canceling a paused run", "session", b.Name, "error", err)
		}
	}
	if len(b.State().Rules) == 0 && !b.poked.Load() {
		return
	}
	for _, it := range b.Inbox() {
		b.takeChange(&it)
	}
}

// closeReceipts settles all receipts when the run is over. Messages that weren't delivered are
// removed from the inbox, so that no later run reads them. If the run goes on in another leg or
// process, they stay, and their receipts read the log from now on.
func (b *inbox) closeReceipts() {
	left := b.receipts.close()
	if r := b.Run(); r.IsOpen() && !b.waits() {
		for _, one := range left {
			one.start = r.Start
			one.settle(0, nil)
		}
		return
	}
	if len(left) > 0 || b.paused() {
		b.dropMessages(left)
	}
	for _, r := range left {
		r.settle(0, errNotDelivered)
	}
}

// dropMessages removes messages from the inbox whose senders were told that they are lost: those
// that this process has posted, and, if the run is paused, those that other processes have.
func (b *inbox) dropMessages(mine map[string]*Receipt) {
	for _, it := range b.Inbox() {
		if mine[it.ID] != nil || it.Kind == session.ItemSteer && b.paused() && !b.receipts.expects(it.ID) {
			b.Remove(it.ID)
		}
	}
}
