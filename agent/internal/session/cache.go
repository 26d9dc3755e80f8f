package session

import (
	"container/list"
	"sync"
)

const (
	// maxCached bounds the states that are kept, by the bytes of the records that they were made
	// from.
	maxCached = 64 << 20
	// cachedCost is what a state counts besides that.
	cachedCost = 4 << 10
)

// A stateCache keeps the states of the sessions that were closed last: at most maxCached bytes. A
// state in it is used by nobody. The zero value is empty.
type stateCache struct {
	mu     sync.Mutex // guards what follows
	states map[string]*list.Element
	order  list.List // of *cachedState, the newest first
	bytes  int
}

type cachedState struct {
	session string
	*loadedState
}

// take removes the state of a session and returns it, or nil.
func (c *stateCache) take(session string) *loadedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remove(c.states[session])
}

// copy returns a copy of the state of a session, or nil.
func (c *stateCache) copy(session string) *loadedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.states[session]
	if e == nil {
		return nil
	}
	s := *e.Value.(*cachedState).loadedState
	s.machine = s.machine.Clone()
	return &s
}

// put adds the state of a session, and removes the oldest ones if there are too many. It doesn't
// add one that is too large by itself.
func (c *stateCache) put(session string, s *loadedState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.states[session])
	if c.states == nil {
		c.states = make(map[string]*list.Element)
	}
	c.states[session] = c.order.PushFront(&cachedState{session, s})
	c.bytes += s.bytes + cachedCost
	for c.bytes > maxCached {
		c.remove(c.order.Back())
	}
}

// remove removes an element, which may be nil. The caller holds mu.
func (c *stateCache) remove(e *list.Element) *loadedState {
	if e == nil {
		return nil
	}
	s := c.order.Remove(e).(*cachedState)
	delete(c.states, s.session)
	c.bytes -= s.bytes + cachedCost
	return s.loadedState
}
