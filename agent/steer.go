package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
)

// A Receipt tells what became of a message to a running session.
type Receipt struct {
	// Posted says that the message went to another process, by way of the journal.
	Posted bool

	done chan struct{}
	step int
	err  error

	follow func(context.Context) (int, error) // for one that was posted
}

// Wait returns the step before which the model reads the message, once that is certain, or why it never will: the run
// ended or paused first. For a message that was posted it looks into the session's log, four times a second.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	ctx = orBackground(ctx)
	if r.Posted {
		return r.follow(ctx)
	}
	select {
	case <-r.done:
		return r.step, r.err
	default:
	}
	select {
	case <-r.done:
		return r.step, r.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

var (
	errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")
)

// A steerMessage is something asked of a running session.
type steerMessage struct {
	id      string
	what    string // one of the kinds below
	text    string
	by      string
	receipt *Receipt
	posted  bool // it is in the journal's inbox

	decision Decision
	at       time.Time // when it was sent
}

// An inboxItem is a steerMessage in a journal's inbox.
type inboxItem struct {
	Text     string    `json:"text,omitempty"`
	By       string    `json:"by,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
}

// The kinds of messages, also as items of a journal's inbox.
const (
	steerText    = "steer"
	steerStop    = "stop"
	steerSuspend = "suspend"
	steerCancel  = "cancel"
	steerMode    = "mode"
	steerDrain   = "drain" // never leaves the process
	steerRevoke  = "revoke"
	steerDecide  = "decide" // its id is that of the pause
)

func (m *steerMessage) settle(step int, err error) {
	if m.receipt != nil {
		m.receipt.step, m.receipt.err = step, err
		close(m.receipt.done)
	}
}

// A hostRequest is what the host has asked a run for.
type hostRequest uint8

const (
	requestNone hostRequest = iota
	requestStop
	requestSuspend
	requestDrain // pause, so that Recover continues
)

// Steer says something to a running session. It returns at once; the model reads the message before its next call, and a
// run that was about to finish takes one more step. A session that doesn't run here is reached by way of the journal, if
// there is one; if it runs nowhere, that is a *[NothingOpenError].
func (a *Agent) Steer(ctx context.Context, session, text string) (*Receipt, error) {
	if text == "" || !utf8.ValidString(text) {
		return nil, &InputError{Field: "Prompt", Problem: "a message has to be text, and valid UTF-8"}
	}
	if limit := a.cfg.Limits.withDefaults().PromptBytes; limit >= 0 && len(text) > limit {
		return nil, &LimitError{Limit: LimitPromptBytes, Max: int64(limit), Have: int64(len(text))}
	}
	m := steerMessage{id: newID("m-"), what: steerText, text: a.redact(text), receipt: &Receipt{done: make(chan struct{})}}
	var after uint64 // of the log, where its delivery can stand
	if a.cfg.Journal != nil {
		if head, err := a.cfg.Journal.Head(orBackground(ctx), session); err == nil {
			after = head.Seq
		}
	}
	posted, err := a.send(ctx, session, m)
	if err != nil {
		return nil, err
	}
	m.receipt.Posted = posted
	m.receipt.follow = func(ctx context.Context) (int, error) { return a.follow(ctx, session, m.id, after) }
	return m.receipt, nil
}

// followEvery is how often a log is looked at for what has become of a message.
const followEvery = 250 * time.Millisecond

// follow waits until the log of a session says what became of a message that was posted.
func (a *Agent) follow(ctx context.Context, session, id string, after uint64) (step int, err error) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	read := false // the message is in the conversation
	for {
		facts, err := a.factsAfter(ctx, session, after)
		if err != nil {
			return 0, err
		}
		for _, f := range facts {
			after = f.Envelope().Seq
			switch f := f.(type) {
			case Steered:
				read = read || f.ID == id
			case StepStarted:
				if read {
					return f.Step, nil
				}
			case RunEnded:
				if f.Code == CodeContextReset { // the fresh run is told
					continue
				}
				return 0, errNotDelivered
			}
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Stop stops a running session at its next safe point: when the model call or the tool calls under way have ended.
func (a *Agent) Stop(ctx context.Context, session string) error {
	_, err := a.send(ctx, session, steerMessage{id: newID("m-"), what: steerStop})
	return err
}

// Suspend pauses a running session at its next safe point. [Continue] resumes it.
func (a *Agent) Suspend(ctx context.Context, session string) error {
	_, err := a.send(ctx, session, steerMessage{id: newID("m-"), what: steerSuspend})
	return err
}

// Cancel stops a running session at once, as the end of its context would. In another process it takes effect at the next
// safe point.
func (a *Agent) Cancel(ctx context.Context, session string) error {
	_, err := a.send(ctx, session, steerMessage{id: newID("m-"), what: steerCancel})
	return err
}

// SetMode switches a running session to another mode, from its next model call on. A session that isn't running is
// switched with Input.Mode.
func (a *Agent) SetMode(ctx context.Context, session, name string) error {
	if _, err := a.mode(name); err != nil {
		return err
	}
	_, err := a.send(ctx, session, steerMessage{id: newID("m-"), what: steerMode, text: name})
	return err
}

// send gives a message to the run of a session: here, or by way of the journal.
func (a *Agent) send(ctx context.Context, session string, m steerMessage) (posted bool, err error) {
	ctx = orBackground(ctx)
	a.mu.Lock()
	if s := a.sessions[session]; s != nil && s.busy != nil {
		x := s.busy
		if m.what == steerRevoke {
			x.revoking.Store(true)
		}
		if m.what == steerRevoke && a.cfg.Journal != nil { // it has to take effect even if the run ends before it reads it
			a.mu.Unlock()
			err := a.post(ctx, session, &m)
			x.poke()
			return true, err
		}
		if m.what != steerCancel {
			s.put(m)
		}
		a.mu.Unlock()
		if m.what == steerCancel {
			x.cancel(&StopError{Code: CodeCanceled, Err: errCanceled})
		}
		x.poke()
		return false, nil
	}
	a.mu.Unlock()
	if a.cfg.Journal == nil {
		return false, &NothingOpenError{Session: session}
	}
	head, err := a.cfg.Journal.Head(ctx, session)
	switch {
	case errors.Is(err, journal.ErrNoSession):
		return false, &NothingOpenError{Session: session}
	case err != nil:
		return false, fmt.Errorf("agent: session %q: reading its head: %w", session, err)
	case head.Status != string(Running) || head.Owner == "" || head.Until.Before(time.Now()):
		return false, &NothingOpenError{Session: session, Status: Status(head.Status)}
	}
	return true, a.post(ctx, session, &m)
}

// post puts a message into the journal's inbox of a session.
func (a *Agent) post(ctx context.Context, session string, m *steerMessage) error {
	l := inboxItem{Text: m.text, By: m.by}
	if m.what == steerDecide {
		l.Decision = &m.decision
	}
	data, err := marshal(l)
	if err != nil {
		return fmt.Errorf("agent: encoding a message: %w", err)
	}
	err = a.cfg.Journal.Post(ctx, session, journal.Item{ID: m.id, Kind: m.what, Time: time.Now().UTC(), Data: data})
	if err != nil {
		return fmt.Errorf("agent: session %q: posting: %w", session, err)
	}
	return nil
}

// readSteering takes what was sent to the run, at a point where nothing is under way. Messages are delivered only between
// steps, when no call is open; until then they wait where they are. It reports whether anything was there.
func (x *exec) readSteering() (came bool) {
	r := x.m.s.Run
	between := (r.Stage == stageReady || r.Stage == stageSaid) && r.Final == ""
	var steer []steerMessage
	all := append(x.takeSteering(), x.inbox()...)
	for _, m := range all {
		switch m.what {
		case steerText:
			steer = append(steer, m)
			continue
		case steerDecide:
			x.takeDecision(&m)
			continue
		case steerRevoke:
			x.takeRevocation(&m)
			continue
		}
		if m.posted && !x.acknowledge(m.id) {
			continue
		}
		switch m.what {
		case steerStop, steerCancel:
			x.hostRequest = requestStop
		case steerSuspend, steerDrain:
			if x.hostRequest == requestNone && m.what == steerSuspend {
				x.hostRequest = requestSuspend
			} else if x.hostRequest == requestNone {
				x.hostRequest = requestDrain
			}
		case steerMode:
			if _, err := x.a.mode(m.text); err != nil { // of a host with other modes
				x.a.log.WarnContext(x.ctx, "agent: switching the mode", "session", x.s.name, "error", err)
				continue
			}
			x.setMode(x.jctx, m.text, "set by the host")
		}
	}
	if x.hostRequest == requestNone && x.parent != nil && x.parent.x.drains() {
		x.hostRequest = requestDrain
	}
	var later []steerMessage
	for _, m := range steer {
		switch {
		case between && x.hostRequest == requestNone:
			x.deliver(m)
		case !m.posted:
			later = append(later, m)
		}
	}
	x.putBack(later) // at once: each would come before the one before
	x.flush()
	return len(all) > 0
}

// putBack leaves what came from this process for later.
func (x *exec) putBack(later []steerMessage) {
	if len(later) == 0 {
		return
	}
	x.a.mu.Lock()
	defer x.a.mu.Unlock()
	x.s.steering = append(later, x.s.steering...)
	x.s.hasMessages.Store(true)
}

// deliver adds a message to the conversation. One from the inbox leaves it in the same append.
func (x *exec) deliver(m steerMessage) {
	var taken []string
	if m.posted {
		taken = []string{m.id}
	}
	x.lock()
	err := x.recordLocked(taken, Steered{Meta: x.stamp(0, ""), ID: m.id, Message: provider.User(m.text)})
	x.mu.Unlock()
	if err != nil {
		m.settle(0, err)
		return
	}
	if x.recall != nil {
		x.recall.asked = false
	}
	x.undelivered = append(x.undelivered, m) // settled when the model call has begun
}

// takeSteering returns what came from this process. The decisions in it are claimed until it is known what becomes of them.
func (x *exec) takeSteering() []steerMessage {
	if !x.s.hasMessages.Load() { // what is put just now is found by the next look
		return nil
	}
	x.a.mu.Lock()
	defer x.a.mu.Unlock()
	all := x.s.steering
	x.s.steering = nil
	x.s.hasMessages.Store(false)
	for i := range all {
		if all[i].what == steerDecide {
			x.claimed = append(x.claimed, all[i].id)
		}
	}
	return all
}

// inbox returns what other processes have posted, and leaves it there.
func (x *exec) inbox() []steerMessage {
	store := x.a.cfg.Journal
	if store == nil || x.errAt != nil {
		return nil
	}
	items, err := store.Take(x.jctx, x.s.name, x.fence())
	if err != nil {
		var conflict *journal.ConflictError
		if errors.As(err, &conflict) {
			x.cancel(&BusyError{Session: x.s.name, Err: err})
		}
		x.a.log.WarnContext(x.ctx, "agent: reading the inbox", "session", x.s.name, "error", err)
		return nil
	}
	var out []steerMessage
	for _, it := range items {
		var l inboxItem
		if err := json.Unmarshal(it.Data, &l); err != nil {
			x.a.log.WarnContext(x.ctx, "agent: the inbox holds what can't be read", "session", x.s.name, "item", it.ID, "error", err)
			x.unread = append(x.unread, it.ID)
			continue
		}
		m := steerMessage{id: it.ID, what: it.Kind, posted: true, text: l.Text, by: l.By, at: it.Time}
		if l.Decision != nil {
			m.decision = *l.Decision
		}
		out = append(out, m)
	}
	return out
}

// acknowledge takes an item out of the inbox before what it asks for is done.
func (x *exec) acknowledge(id string) bool {
	app := journal.Append{Session: x.s.name, After: x.m.s.Seq, Fence: x.fence(), Taken: []string{id}}
	if err := x.a.cfg.Journal.Append(x.jctx, app); err != nil {
		x.a.log.WarnContext(x.ctx, "agent: clearing the inbox", "session", x.s.name, "error", err)
		return journal.Unclear(err) // it may be gone, and then nobody else would do it
	}
	return true
}

// obey does what the host asked for.
func (x *exec) obey() {
	h := x.hostRequest
	x.hostRequest = requestNone
	switch h {
	case requestSuspend:
		x.finish(Paused, CodeHost, errPaused)
		return
	case requestDrain:
		x.finish(Paused, CodeDrained, errDrained)
		return
	}
	x.finish(Stopped, CodeHost, &StopError{Code: CodeHost, Err: errStopped})
}
