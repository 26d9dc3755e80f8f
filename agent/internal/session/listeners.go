package session

import (
	"slices"
	"sync"
)

// Listeners are those in this process that are told when something about a session may have
// changed. The zero value is ready for use, by several goroutines at a time.
type Listeners struct {
	mu sync.Mutex // guards what follows
	of map[string][]chan struct{}
}

// Listen returns a channel that gets a value when something may have changed since it was read
// last, and a function that ends this.
func (l *Listeners) Listen(session string) (wake chan struct{}, leave func()) {
	wake = make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[string][]chan struct{})
	}
	l.of[session] = append(l.of[session], wake)
	return wake, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		rest := slices.DeleteFunc(l.of[session], func(w chan struct{}) bool { return w == wake })
		if l.of[session] = rest; len(rest) == 0 {
			delete(l.of, session)
		}
	}
}

// Tell wakes those who listen to a session, but for one.
func (l *Listeners) Tell(session string, but chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, wake := range l.of[session] {
		if wake == but {
			continue
		}
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}
