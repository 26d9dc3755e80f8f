package ratelimit

import (
	"slices"
	"sync"
	"time"
)

// A hostPause is a pause of the background lane that the host has asked for.
type hostPause struct{ reason string }

// PauseBackground prevents background requests from starting until resume is called. The reason,
// such as "memory is short", is shown in waits and snapshots. Running calls continue. Pauses may
// overlap: the lane opens when the last one is resumed. Calling resume again does nothing.
func (g *Gate) PauseBackground(reason string) (resume func()) {
	p := &hostPause{reason}
	g.mu.Lock()
	g.paused = append(g.paused, p)
	if len(g.paused) == 1 {
		g.emit(Event{Kind: EventBackgroundPaused, Reason: reason})
		g.dispatch(time.Now()) // no request is next in line any more
		g.inform()
	}
	g.unlock()
	var once sync.Once
	return func() { once.Do(func() { g.resumeBackground(p) }) }
}

func (g *Gate) resumeBackground(p *hostPause) {
	g.mu.Lock()
	defer g.unlock()
	g.paused = slices.DeleteFunc(g.paused, func(other *hostPause) bool { return other == p })
	if len(g.paused) == 0 {
		g.emit(Event{Kind: EventBackgroundResumed, Reason: p.reason})
		g.dispatch(time.Now())
	}
	g.inform()
}
