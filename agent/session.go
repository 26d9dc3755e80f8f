package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A session is a conversation that this Agent knows of.
type session struct {
	name  string
	m     Machine // its state is that of the run under way
	facts []Fact  // without a journal: all of them, of a named session

	// guarded by Agent.mu
	busy        *exec
	steering    []steerMessage
	unnamed     bool
	hasMessages atomic.Bool // there may be messages: what reads it looks here first, without the lock
}

// put adds a message. Agent.mu is held.
func (s *session) put(m steerMessage) {
	s.steering = append(s.steering, m)
	s.hasMessages.Store(true)
}

// unnamedPrefix begins the names that sessions get whose input has none. They are told by it, in whichever process.
const unnamedPrefix = "unnamed/"

// newID returns an id that can't be guessed: 128 bits.
func newID(prefix string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails: see its documentation
	var room [64]byte
	return string(hex.AppendEncode(append(room[:0], prefix...), b[:]))
}

// newOrigin names a run with ids that can't be guessed, 128 bits each: its session too if that has no name, and its trace.
// They are drawn at once and are of one string, because a short run is over soon.
func (a *Agent) newOrigin(session string) *Origin {
	var random [48]byte
	rand.Read(random[:])
	b := make([]byte, 0, 128)
	if session == "" {
		b = hex.AppendEncode(append(b, unnamedPrefix...), random[:16])
	}
	run := len(b)
	b = hex.AppendEncode(append(b, "r-"...), random[16:32])
	trace := len(b)
	ids := string(hex.AppendEncode(b, random[32:]))
	if session == "" {
		session = ids[:run]
	}
	return &Origin{Session: session, Run: ids[run:trace], Trace: ids[trace:], Agent: a.cfg.Name}
}

// enter makes x the run of its session, and loads what the session is.
func (x *exec) enter(in *Input) error {
	a := x.a
	name := in.Session
	if name == "" {
		x.origin = a.newOrigin("")
		name = x.origin.Session
	}
	a.mu.Lock()
	if a.draining {
		a.mu.Unlock()
		return ErrDraining
	}
	s := a.sessions[name]
	if s == nil {
		s = &session{name: name, unnamed: strings.HasPrefix(name, unnamedPrefix), m: Machine{s: State{Session: name}}}
		a.sessions[name] = s
	}
	if s.busy != nil {
		a.mu.Unlock()
		return &BusyError{Session: name}
	}
	s.busy, x.s = x, s
	a.mu.Unlock()
	if err := x.load(); err != nil {
		x.leave()
		return err
	}
	x.m = &s.m
	return nil
}

// leave ends x's hold on its session.
func (x *exec) leave() {
	a, s := x.a, x.s
	if x.ledger != nil {
		x.ledger.renewal.end()
		ctx, cancel := context.WithTimeout(x.jctx, grace) // it ends by itself, too
		if err := a.cfg.Journal.Release(ctx, x.ledger.lease); err != nil {
			a.log.WarnContext(x.ctx, "agent: releasing a lease", "session", s.name, "error", err)
		}
		cancel()
	}
	x.forgetUnnamed()
	a.mu.Lock()
	defer a.mu.Unlock()
	s.busy = nil
	if a.draining {
		defer a.drained()
	}
	for _, m := range append(s.steering, x.undelivered...) {
		m.settle(0, errNotDelivered)
	}
	s.steering = slices.DeleteFunc(s.steering, func(m steerMessage) bool { return m.what != steerDecide && m.what != steerRevoke }) // these wait for who continues
	run := s.m.s.Run
	if a.cfg.Journal != nil || run == nil || s.unnamed && run.Status != Paused {
		delete(a.sessions, s.name)
	}
}

// forgetUnnamed removes a session that nobody named from the journal, once its run has ended.
func (x *exec) forgetUnnamed() {
	s := x.s
	if x.ledger == nil || !s.unnamed || s.m.s.Run.open() || x.errAt != nil {
		return
	}
	if err := x.a.delete(x.jctx, x.a.cfg.Journal, s.name); err != nil {
		x.a.log.WarnContext(x.ctx, "agent: forgetting a session", "session", s.name, "error", err)
	}
}

// load brings the session's machine to where its log is.
func (x *exec) load() error {
	s, store := x.s, x.a.cfg.Journal
	if store == nil {
		return nil
	}
	asked := time.Now()
	lease, err := store.Lease(x.jctx, s.name, x.a.owner+"/"+newID(""), x.a.lease)
	if err != nil {
		var held *journal.HeldError
		if errors.As(err, &held) {
			return &BusyError{Session: s.name, Err: err}
		}
		return fmt.Errorf("agent: session %q: taking the lease: %w", s.name, err)
	}
	x.ledger = &ledger{lease: lease, renewal: renew(x, lease, asked)}
	x.ledger.retried.L = &x.mu
	return s.m.read(x.jctx, store)
}

// read applies the records of a session from a journal: all of them, or those from a snapshot on if what comes before was
// pruned.
func (m *Machine) read(ctx context.Context, store journal.Store) error {
	err := m.readAfter(ctx, store, 0)
	var pruned *journal.PrunedError
	if errors.As(err, &pruned) { // maybe only while it was read
		m.s = State{Session: m.s.Session, Seq: pruned.UpTo}
		err = m.readAfter(ctx, store, pruned.UpTo)
	}
	return err
}

func (m *Machine) readAfter(ctx context.Context, store journal.Store, after uint64) error {
	var r reader
	for rec, err := range store.Read(ctx, m.s.Session, after) {
		if err != nil {
			return fmt.Errorf("agent: session %q: reading its journal: %w", m.s.Session, err)
		}
		f, err := r.decode(m.s.Session, rec)
		if err != nil {
			return err
		}
		if err := m.Apply(f); err != nil {
			return err
		}
	}
	return nil
}

// Facts returns the facts of a session, in order: from the journal, or from memory. An unknown session has none, and
// without a journal neither has one that wasn't named by its input. Those of a session that was pruned begin with a
// [Snapshot].
func (a *Agent) Facts(ctx context.Context, session string) ([]Fact, error) {
	ctx = orBackground(ctx)
	if a.cfg.Journal == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		s := a.sessions[session]
		if s == nil {
			return nil, nil
		}
		if s.busy != nil {
			return nil, &BusyError{Session: session}
		}
		return append([]Fact(nil), s.facts...), nil
	}
	facts, err := a.factsAfter(ctx, session, 0)
	var pruned *journal.PrunedError
	if errors.As(err, &pruned) {
		return a.factsAfter(ctx, session, pruned.UpTo)
	}
	return facts, err
}

func (a *Agent) factsAfter(ctx context.Context, session string, after uint64) ([]Fact, error) {
	var facts []Fact
	var r reader
	for rec, err := range a.cfg.Journal.Read(ctx, session, after) {
		if err != nil {
			return nil, fmt.Errorf("agent: session %q: reading its journal: %w", session, err)
		}
		f, err := r.decode(session, rec)
		if err != nil {
			return nil, err
		}
		facts = append(facts, f)
	}
	return facts, nil
}

// Pending returns what a session waits for. While an agent that is a tool acts on a decision, what else it waits for is pending
// still, and can be decided on.
func (a *Agent) Pending(ctx context.Context, session string) ([]Pause, error) {
	var pending []Pause
	err := a.look(ctx, session, func(m *Machine) { pending = m.s.Run.pending() })
	return pending, err
}

// look shows f how a session stands, in a machine that nobody changes. An unknown session has one without facts. Without a
// journal, a session that has a run under way is a *BusyError.
func (a *Agent) look(ctx context.Context, session string, f func(*Machine)) error {
	ctx = orBackground(ctx)
	if a.cfg.Journal == nil {
		a.mu.Lock()
		s, m := a.sessions[session], NewMachine(session)
		if s != nil && s.busy != nil {
			a.mu.Unlock()
			return &BusyError{Session: session}
		}
		if s != nil {
			m = s.m.still()
		}
		a.mu.Unlock()
		f(m)
		return nil
	}
	m := NewMachine(session)
	if err := m.read(ctx, a.cfg.Journal); err != nil {
		return err
	}
	f(m)
	return nil
}

// Delete removes a session and all that is kept of it. A session with a run under way is a *[BusyError].
func (a *Agent) Delete(ctx context.Context, session string) error {
	ctx = orBackground(ctx)
	a.mu.Lock()
	s := a.sessions[session]
	if s != nil && s.busy != nil {
		a.mu.Unlock()
		return &BusyError{Session: session}
	}
	delete(a.sessions, session)
	a.mu.Unlock()
	if a.cfg.Journal == nil {
		return a.forgetCalls(ctx, s)
	}
	lease, err := a.cfg.Journal.Lease(ctx, session, a.owner+"/"+newID(""), a.lease)
	if err != nil {
		var held *journal.HeldError
		if errors.As(err, &held) {
			return &BusyError{Session: session, Err: err}
		}
		return fmt.Errorf("agent: forgetting session %q: %w", session, err)
	}
	if err := a.delete(ctx, a.cfg.Journal, session); err != nil {
		_ = a.cfg.Journal.Release(context.WithoutCancel(ctx), lease) // it ends by itself, too
		return fmt.Errorf("agent: forgetting session %q: %w", session, err)
	}
	return nil
}

// forgetCalls removes the sessions of the open calls of a session that no journal keeps.
func (a *Agent) forgetCalls(ctx context.Context, s *session) error {
	if s == nil || !s.m.s.Run.open() {
		return nil
	}
	var errs []error
	for i := range s.m.s.Run.Calls {
		call := s.m.s.Run.Calls[i].Call
		if t := a.children[call.Name]; t != nil {
			errs = append(errs, t.child.Delete(ctx, childSession(s.name, call.ID)))
		}
	}
	return errors.Join(errs...)
}

// delete removes a session from a journal, after those of the agents that are tools which were called in it.
func (a *Agent) delete(ctx context.Context, store journal.Store, session string) error {
	err := a.eachChild(ctx, store, session, func(store journal.Store, name string) error { return a.delete(ctx, store, name) })
	if err != nil {
		return err
	}
	return store.Delete(ctx, session, journal.All)
}

// eachChild calls f for the sessions of the agents that are tools which were called in a session of a journal, each with the
// journal that it is in.
func (a *Agent) eachChild(ctx context.Context, store journal.Store, session string, f func(store journal.Store, name string) error) error {
	if len(a.children) == 0 && !strings.HasPrefix(session, childPrefix) {
		return nil
	}
	runs := make(map[string]bool)
	look := func(after uint64) error {
		for rec, err := range store.Read(ctx, session, after) {
			if err != nil {
				return err
			}
			if f, err := DecodeFact(session, rec); err == nil { // what can't be read has no children that can be found
				runs[f.Envelope().Run] = true
			}
		}
		return nil
	}
	err := look(0)
	var pruned *journal.PrunedError
	if errors.As(err, &pruned) {
		err = look(pruned.UpTo)
	}
	if err != nil {
		return err
	}
	prefixes := slices.Sorted(maps.Keys(runs))
	found := make(map[string]bool) // two journals may be the same
	for _, store := range a.journals() {
		for _, run := range prefixes {
			for head, err := range store.Heads(ctx, journal.Filter{Prefix: childPrefix + run + "."}) {
				if err != nil {
					return err
				}
				if found[head.Session] || !strings.HasSuffix(head.Session, childSuffix(session)) {
					continue // the latter: of the session that this one is a copy of
				}
				found[head.Session] = true
				if err := f(store, head.Session); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// journals returns where the sessions of the agents are that are called by this one, and by those: its own journal, and those
// that they were given. One may be named twice.
func (a *Agent) journals() []journal.Store {
	stores := []journal.Store{a.cfg.Journal}
	for _, t := range a.children {
		for i, store := range t.child.journals() {
			if store == nil || i == 0 && t.lent || slices.ContainsFunc(stores, func(s journal.Store) bool { return sameStore(s, store) }) {
				continue
			}
			stores = append(stores, store)
		}
	}
	return stores
}

// sameStore reports whether two stores are known to be one.
func sameStore(a, b journal.Store) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
