package session

import "sync"

const (
	// maxCached bounds the states that are kept, by the bytes of the records that they were made
	// from.
	maxCached = 64 << 20
	// cachedCost is what a state counts besides that.
	cachedCost = 4 << 10
)

// A stateCache keeps the states of sessions that were closed: at most maxCached bytes. A state in
// it is used by nobody. The zero value is empty.
type stateCache struct {
	mu     sync.Mutex // guards what follows
	states map[string]*loadedState
	bytes  int
}

// pop removes the state of a session and returns it, or nil.
func (c *stateCache) pop(session string) *loadedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remove(session)
}

// copy returns a copy of the state of a session, or nil.
func (c *stateCache) copy(session string) *loadedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.states[session] == nil {
		return nil
	}
	s := *c.states[session]
	s.machine = s.machine.Clone()
	return &s
}

// put adds the state of a session. Others leave, whichever, if they are too many.
func (c *stateCache) put(session string, s *loadedState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(session)
	if c.states == nil {
		c.states = make(map[string]*loadedState)
	}
	c.states[session] = s
	c.bytes += s.bytes + cachedCost
	for other := range c.states {
		if c.bytes <= maxCached {
			break
		}
		c.remove(other)
	}
}

// remove removes a state, if there is one. The caller holds mu.
func (c *stateCache) remove(session string) *loadedState {
	s := c.states[session]
	if s != nil {
		delete(c.states, session)
		c.bytes -= s.bytes + cachedCost
	}
	return s
}
