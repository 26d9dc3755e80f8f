package ratelimit

import (
	"context"
	"sync"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// An AllowanceStore keeps the states of an [Allowance]. With one that several processes share, they
// share the limits: agent/journal/sqlite and agent/journal/postgres have such stores. Allowances
// with different limits need stores, or prefixes of keys, of their own.
//
// Package ratelimit/allowancetest tests a store.
type AllowanceStore interface {
	// Update calls change with the state of key, the zero AllowanceState if there is none, and the
	// time by the store's clock, and stores what it returns, in one atomic step: two updates of a
	// key have the same effect as one after the other. If change returns an error, nothing is
	// stored and Update returns that error, which may be wrapped.
	//
	// A store with transactions calls change within one that has locked the key's row. Another
	// calls it again if the state has changed meanwhile. change is quick, has no side effects,
	// doesn't call the store and leaves the state that it gets as it is. A state whose Idle is over
	// may be deleted at any time. Update must return soon after ctx ends.
	Update(ctx context.Context, key string, change AllowanceChange) error
}

// An AllowanceChange returns what becomes of a state at a time.
type AllowanceChange func(s AllowanceState, now time.Time) (AllowanceState, error)

// NewAllowanceMemory returns a store in memory, for one process, that several users may share under
// different keys. It has at most so many keys, as [AllowanceConfig].MaxKeys says; 0 or less:
// 100,000.
func NewAllowanceMemory(keys int) AllowanceStore {
	if keys <= 0 {
		keys = defaultKeys
	}
	return newAllowanceMemory(keys)
}

// allowanceMemory is a store in memory. At its most keys, it drops the key that was changed least
// recently, but none with an open take.
type allowanceMemory struct {
	most int

	mu    sync.Mutex // guards what follows
	keys  map[string]*allowanceEntry
	quiet list.List[allowanceEntry] // those without an open take, the least recent first
}

type allowanceEntry struct {
	key   string
	state AllowanceState
	place list.Links[allowanceEntry] // in quiet
}

func newAllowanceMemory(most int) *allowanceMemory {
	return &allowanceMemory{
		most: most,
		keys: make(map[string]*allowanceEntry),
		quiet: list.List[allowanceEntry]{Links: func(e *allowanceEntry) *list.Links[allowanceEntry] {
			return &e.place
		}},
	}
}

func (m *allowanceMemory) Update(_ context.Context, key string, change AllowanceChange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.keys[key]
	if e == nil {
		e = &allowanceEntry{key: key}
	}
	state, err := change(e.state, time.Now())
	if err != nil {
		return err
	}
	if m.keys[key] == nil {
		if len(m.keys) >= m.most && !m.drop() {
			return errAllowanceFull
		}
		m.keys[key] = e
	} else if len(e.state.Open) == 0 {
		m.quiet.Remove(e)
	}
	if e.state = state; len(state.Open) == 0 {
		m.quiet.PushBack(e)
	}
	return nil
}

// drop makes room for a key, and reports whether it could. If every key has an open take, it looks
// for takes that no longer count because they were never released.
func (m *allowanceMemory) drop() bool {
	if e := m.quiet.Head; e != nil {
		m.quiet.Remove(e)
		delete(m.keys, e.key)
		return true
	}
	now, before := time.Now().UnixNano(), len(m.keys)
	for key, e := range m.keys {
		if now >= e.state.Idle {
			delete(m.keys, key)
		}
	}
	return len(m.keys) < before
}
