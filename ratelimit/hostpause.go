package ratelimit

import (
	"sync"
	"time"
)

// hostPauses are the host's reasons for pausing the background lane, in order of arrival.
type hostPauses struct {
	reasons []*hostPause
}

type hostPause struct{ reason string }

func (p *hostPauses) n() int        { return len(p.reasons) }
func (p *hostPauses) first() string { return p.reasons[0].reason }

// PauseBackground prevents background requests from starting until resume is called. The reason,
// such as "memory is short", is shown in waits and snapshots. Running calls continue. Pauses may
// overlap: the lane opens when the last one is resumed. Calling resume again does nothing.
func (g *Gate) PauseBackground(reason string) (resume func()) {
	p := &hostPause{reason}
	g.mu.Lock()
	g.paused.reasons = append(g.paused.reasons, p)
	if g.paused.n() == 1 {
		g.emit(Event{Kind: eventBackgroundPaused, Reason: reason})
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
	reasons := &g.paused.reasons
	for i, other := range *reasons {
		if other == p {
			*reasons = append((*reasons)[:i:i], (*reasons)[i+1:]...)
			break
		}
	}
	if g.paused.n() == 0 {
		g.emit(Event{Kind: eventBackgroundResumed, Reason: p.reason})
		g.dispatch(time.Now())
	}
	g.inform()
}
