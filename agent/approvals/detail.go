package approvals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	sessions "github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// ErrUnknown says that there is no such item: its session is unknown, or never had a pause with
// that id.
var ErrUnknown = errors.New("approvals: there is no such item")

// A State is the state of an item.
type State string

// The states of an item.
const (
	StateOpen    State = "open"
	StateExpired State = "expired" // there was no decision in time
	StateDecided State = "decided" // or closed: see Detail.Decision
	// StateReplaced is an item whose decision couldn't be accepted when the run took it. It is open
	// again under another id: see Detail.NewID.
	StateReplaced State = "replaced"
)

// A Detail has what a person needs to decide on an item, or how it was decided.
type Detail struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	State   State  `json:"state"`
	// Pause is the question, with the call as it would run. If the item was decided so long ago
	// that the log was pruned since, only the ID is set.
	Pause agent.Pause `json:"pause"`
	Agent string      `json:"agent,omitempty"` // the name of the session's agent
	Run   string      `json:"run,omitempty"`
	// User is who requested the run, Task the host's name for it, and Since the time at which the
	// call was suspended, as far as the log has them.
	User  string    `json:"by,omitempty"`
	Task  string    `json:"task,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Decision is how it was decided, and At when, after the session has read the decision.
	Decision *agent.Decision `json:"decision,omitempty"`
	At       time.Time       `json:"at,omitzero"`
	// NewID is the id of the item that has replaced this one, as long as that is open. Its
	// Pause.Refused says why.
	NewID string `json:"new_id,omitempty"`
	// Messages are the last messages of the conversation, oldest first, if they were requested.
	Messages []Message `json:"messages,omitempty"`
	// Plan says that it is of a run of plans, whose name Session is.
	Plan bool `json:"plan,omitempty"`
}

// A Message is one message of a conversation in short form: without media and without opaque data
// of providers.
type Message struct {
	Role provider.Role `json:"role"`
	Text string        `json:"text,omitempty"` // at most 4,000 bytes
	// Calls are the names of the tools that were called, or whose results these are.
	Calls []string `json:"calls,omitempty"`
}

// mostSaid is how much of a message's text is shown, in bytes.
const mostSaid = 4000

// Find returns an item of a session with all details and, if it is open, at most the given number
// of last messages of the conversation. It reads the session's log. If there is no such item, the
// error is [ErrUnknown], and an *[UnreadableError] if the session can't be read. Items of a
// subagent are in the session that called it, under the same id.
func Find(ctx context.Context, store journal.Store, session, id string, messages int) (*Detail, error) {
	l, err := read(ctx, store, session)
	if err != nil {
		return nil, err
	}
	return l.find(id, messages)
}

// A log is a session's log as read from the store.
type log struct {
	facts []agent.Fact
	state *machine.State
}

// read reads a session: all of it, or from its snapshot on.
func read(ctx context.Context, store journal.Store, session string) (*log, error) {
	if store == nil {
		return nil, errNoStore
	}
	store = contain.Store(store, contain.Abandoned{})
	head, err := store.Head(ctx, session)
	_, invalid := errors.AsType[*journal.InvalidError](err)
	switch {
	case errors.Is(err, journal.ErrNoSession) || invalid:
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	case err != nil:
		head.Session = session
		return nil, unreadable(&head, fmt.Errorf("approvals: session %q: reading its head: %w", session, err))
	case head.Parent != "":
		return nil, fmt.Errorf("%w: session %q is the work of %q; use that", ErrUnknown, session, head.Parent)
	case head.Kind != "":
		return nil, fmt.Errorf("%w: %q is a log of the kind %q", ErrUnknown, session, head.Kind)
	}
	facts, err := sessions.New(sessions.Config{Store: store}).Facts(ctx, session, 0, 0)
	if err != nil {
		return nil, unreadable(&head, fmt.Errorf("approvals: %w", err))
	}
	m, err := machine.Replay(session, facts...)
	if err != nil {
		return nil, unreadable(&head, err)
	}
	return &log{facts, m.State()}, nil
}

// An UnreadableError says that the head or the log of a session can't be read. Only those who may
// know of the session should be told.
type UnreadableError struct {
	Session string
	Open    []Open // what its head shows, if that can be read
	Err     error
}

// Error says what can't be read.
func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

func unreadable(h *journal.Head, err error) error {
	e := &UnreadableError{Session: h.Session, Err: err}
	for i := range h.Open {
		e.Open = append(e.Open, opened(h, &h.Open[i], time.Now()))
	}
	return e
}

// find returns an item of a session.
func (l *log) find(id string, messages int) (*Detail, error) {
	d := &Detail{Session: l.state.Session, ID: id, State: StateDecided}
	if !l.fillFromLog(d) {
		return nil, fmt.Errorf("%w: session %q has no pause %q", ErrUnknown, l.state.Session, id)
	}
	open := d.Decision == nil && l.open(id) != nil
	now := l.replacement(id)
	switch {
	case now != nil:
		d.State, d.NewID = StateReplaced, now.ID
	case open && d.Pause.Expired(time.Now()), d.Decision != nil && d.Decision.Kind == machine.Expired:
		d.State = StateExpired
	case open:
		d.State = StateOpen
	}
	if open && messages > 0 {
		d.Messages = said(l.state.Messages[max(len(l.state.Messages)-messages, 0):])
	}
	return d, nil
}

// fillFromLog fills in what the log has about an item, and reports whether it has the item.
func (l *log) fillFromLog(d *Detail) (known bool) {
	if d.ID == "" {
		return false
	}
	var by, task string
	for _, f := range l.facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			by, task = f.By, f.Task
		case *agent.Suspended:
			if p := among(f.Pause.Flat(), d.ID); p != nil {
				known, d.Pause = true, *p
				d.Agent, d.Run, d.User, d.Task = f.Agent(), f.Run(), by, task
				if d.Since.IsZero() { // a nested call is suspended again after each decision
					d.Since = f.Time
				}
			}
		case *machine.Decided:
			if f.Decision.ID == d.ID {
				known, d.At, d.Agent, d.Run = true, f.Time, f.Agent(), f.Run()
				d.Decision = &f.Decision
			}
		}
	}
	if p := l.open(d.ID); p != nil && d.Pause.ID == "" { // from the snapshot
		known, d.Pause = true, *p
		d.Agent, d.Run, d.Task = l.state.Run.Agent, l.state.Run.ID, l.state.Run.Task
	}
	if !known && slices.Contains(l.state.Used, d.ID) {
		known, d.Agent = true, l.agent()
	}
	d.Pause.ID = d.ID
	return known
}

// agent returns the name of the session's agent.
func (l *log) agent() string {
	if l.state.Run == nil {
		return ""
	}
	return l.state.Run.Agent
}

// open returns the pause with that id if it waits for a decision.
func (l *log) open(id string) *agent.Pause {
	if !l.state.Run.IsOpen() || slices.Contains(l.state.Used, id) {
		return nil
	}
	return among(l.state.Run.Pending(), id)
}

// replacement returns the open pause that has replaced the one with that id, or nil.
func (l *log) replacement(id string) *agent.Pause {
	if !l.state.Run.IsOpen() {
		return nil
	}
	return l.state.Run.Replacement(id)
}

// among returns the pause with that id, or nil.
func among(pauses []agent.Pause, id string) *agent.Pause {
	if i := slices.IndexFunc(pauses, func(p agent.Pause) bool { return p.ID == id }); i >= 0 {
		return &pauses[i]
	}
	return nil
}

func said(messages []provider.Message) []Message {
	out := make([]Message, len(messages))
	for i := range messages {
		m := &messages[i]
		s := Message{Role: m.Role, Text: m.Text()}
		for j := range m.Parts {
			switch p := &m.Parts[j]; p.Kind {
			case provider.PartToolCall:
				s.Calls = append(s.Calls, p.Call.Name)
			case provider.PartToolResult:
				s.Calls = append(s.Calls, p.Result.Name)
				s.Text += p.Result.Text() + "\n"
			}
		}
		s.Text = strings.TrimSpace(s.Text)
		s.Text = strings.ToValidUTF8(s.Text[:min(len(s.Text), mostSaid)], "")
		out[i] = s
	}
	return out
}
