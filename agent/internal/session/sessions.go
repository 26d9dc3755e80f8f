package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Config configures [Sessions]. All fields but Delete are required.
type Config struct {
	Store journal.Store // its panics are contained: see [contain.Store]
	// InMemory says that the store is the process's own: it keeps facts as they are, and its leases
	// aren't renewed.
	InMemory bool
	Record   int           // bytes that a record has at most
	Owner    string        // who takes leases
	Lease    time.Duration // how long a lease lasts
	Grace    time.Duration // how long work under way has to end before a lease is lost, and Close has
	Redact   machine.Redactor
	Logger   *slog.Logger
	NewID    func(prefix string) string // an id that nobody can guess
	// Delete removes a session that [Log.Close] finds not worth keeping, with what belongs to it;
	// nil: the session alone is removed.
	Delete func(ctx context.Context, session string) error
}

// Sessions are the sessions of a store. They are safe for concurrent use.
type Sessions struct {
	Config    // fixed
	Listeners // to what this process stores

	steering [64]chan struct{} // full while a message is sent to one of some sessions

	mu       sync.Mutex // guards what follows
	held     map[string]*Log
	draining bool
	idle     chan struct{} // while draining: closed when no session is held

	cache   stateCache // of sessions that aren't held
	batches sync.Pool  // of *batch
}

// New returns the sessions of a store.
func New(cfg Config) *Sessions {
	s := &Sessions{Config: cfg, held: make(map[string]*Log)}
	for i := range s.steering {
		s.steering[i] = make(chan struct{}, 1)
	}
	return s
}

// A Holder is what drives a run of a session that is held.
type Holder interface {
	// Poke tells it that this process has posted something to the session, or that it should stop
	// soon.
	Poke()
	// Posted tells it what is in the inbox, on another goroutine. Poke follows.
	Posted(items []Item)
}

// Holder returns what drives the session in this process, or nil. Its run may have ended, but not
// yet been released.
func (s *Sessions) Holder(session string) Holder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.held[session]; l != nil {
		return l.holder
	}
	return nil
}

// driven reports whether a run of the session is in progress in this process. That run then expects
// these items, which the caller posts next: see [Log.Expects].
func (s *Sessions) driven(session string, items ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.held[session]
	if l == nil || l.holder == nil || l.ending {
		return false
	}
	l.expected = append(l.expected, items...)
	return true
}

// InProgress returns an error with the code [machine.ErrNothingOpen] if no run of the session is in
// progress, in this or another process.
func (s *Sessions) InProgress(ctx context.Context, session string) error {
	if s.driven(session) {
		return nil
	}
	head, err := s.Store.Head(ctx, session)
	return inProgress(session, head, err)
}

// inProgress is InProgress for the head of a session that this process doesn't drive, or the error
// of reading it.
func inProgress(session string, head journal.Head, err error) error {
	switch {
	case errors.Is(err, journal.ErrNoSession):
		return NothingOpen(session, "")
	case err != nil:
		return unanswered(session, "reading its head", err)
	case head.Status != string(machine.Running) || head.Owner == "" || head.Until.Before(time.Now()):
		return NothingOpen(session, machine.Status(head.Status))
	}
	return nil
}

// Exists returns an error with the code [machine.ErrNothingOpen] if the store has no such session.
func (s *Sessions) Exists(ctx context.Context, session string) error {
	_, err := s.Store.Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return NothingOpen(session, "")
	}
	if err != nil {
		return unanswered(session, "reading its head", err)
	}
	return nil
}

// NothingOpen returns the error for a session that is unknown, or whose newest run has the status.
func NothingOpen(session string, status machine.Status) error {
	return &machine.SessionError{Session: session, Code: machine.ErrNothingOpen, Status: status}
}

func busy(session string, cause error) error {
	return &machine.SessionError{Session: session, Code: machine.ErrBusy, Err: cause}
}

// A storeError says that the store doesn't answer.
type storeError struct {
	text string
	err  error
}

func unanswered(session, doing string, err error) error {
	return &storeError{fmt.Sprintf("agent: session %q: %s: %v", session, doing, err), err}
}

func (e *storeError) Error() string { return e.text }

func (e *storeError) Unwrap() error { return e.err }

// Stops reports whether err says that a run can't be driven now, by this process: a store doesn't
// answer, another process has the session, or this one takes no more. It says nothing about the
// run.
func Stops(err error) bool {
	if _, ok := errors.AsType[*storeError](err); ok {
		return true
	}
	e, ok := errors.AsType[*machine.SessionError](err)
	return ok && (e.Code == machine.ErrBusy || e.Code == machine.ErrDraining || e.Code == machine.ErrJournal)
}

// Drain refuses sessions from now on, wakes all holders, and waits until no session is held. If ctx
// ends first, it returns the names of those that are.
func (s *Sessions) Drain(ctx context.Context) (left []string) {
	s.mu.Lock()
	if !s.draining {
		s.draining, s.idle = true, make(chan struct{})
		for _, l := range s.held {
			if l.holder != nil {
				l.holder.Poke()
			}
		}
		s.drained()
	}
	idle := s.idle
	s.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.held))
}

// Draining reports whether [Sessions.Drain] was called.
func (s *Sessions) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// drained closes idle if no session is held. mu is held.
func (s *Sessions) drained() {
	select {
	case <-s.idle:
		return
	default:
	}
	if len(s.held) == 0 {
		close(s.idle)
	}
}

// maxName is the maximum length of a session's name, in bytes.
const maxName = 512

// NameProblem returns what is wrong with the name of a session; empty if nothing is.
func NameProblem(name string) string {
	if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Sprintf("the name has to be valid UTF-8 of at most %d bytes without control characters", maxName)
	}
	return ""
}

// hasName reports whether a session has a name of the host's, so that there may be other runs in
// it.
func hasName(session string) bool {
	return !strings.HasPrefix(session, machine.UnnamedPrefix) && !strings.HasPrefix(session, machine.ChildPrefix)
}
