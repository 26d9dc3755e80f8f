package live

import (
	"context"
	"slices"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	// keep is how many events a reader may be behind at least before it misses notes. At most twice
	// as many are kept.
	keep = 1024
	// keepBytes is how many bytes the kept events have at most, as JSON. A single event may have
	// more.
	keepBytes = 8 << 20
)

// A topic is a session that has a run in this hub, or readers.
type topic struct {
	session string // fixed

	mu     sync.Mutex // guards what follows
	moved  sync.Cond  // an event has come, or a run has begun or ended
	driven bool       // a run is in progress, of which events come: of this hub, or by the bus
	remote bool       // it is another hub's
	waking bool       // readers are woken soon
	begun  context.CancelFunc
	idle   context.Context // ends when a run begins
	events []agent.Event   // the newest that readers may need; none without readers
	sizes  []int           // their bytes
	bytes  int             // of all of them
	first  int             // the number of events[0] among all
	notes  int             // how many of all events are notes
	seq    uint64          // of the newest fact
	newest agent.Meta      // of the newest event of the session itself
	call   partial         // the model call in progress

	readers, polling int // readers, and how many of them read the journal because nothing is driven
	subscribed       subscription
}

func newTopic(session string) *topic {
	t := &topic{session: session}
	t.moved.L = &t.mu
	t.rest()
	return t
}

// rest makes a context that ends when a run begins. The caller holds mu, or owns the topic.
func (t *topic) rest() { t.idle, t.begun = context.WithCancel(context.Background()) }

// A hole stands for a fact that readers get from the journal.
type hole struct{ agent.Meta }

// publish adds an event of a run. It reports whether it was the first one, or the last one. Facts
// from elsewhere may be missing in between.
func (t *topic) publish(ev agent.Event) (first, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.announce()
	if first = !t.driven || t.remote; first {
		t.driven, t.remote = true, false
		t.call.clear()
		t.begun()
	}
	meta := ev.Envelope()
	own := meta.Session() == t.session // otherwise it is a subagent's
	_, fact := ev.(agent.Fact)
	if !own || !fact {
		t.note(ev)
		return first, false
	}
	end, ended := ev.(*agent.RunEnded)
	if ended && end.Code == machine.CodeJournal { // it isn't stored: another process resumes the session
		t.finish()
		return first, true
	}
	if meta.Seq > t.seq { // else it is another pause of the same fact
		t.seq = meta.Seq
		t.call.fact(ev)
		t.add(stored(ev, meta), meta)
	}
	if ended && end.Code != machine.CodeContextReset {
		t.finish()
		return first, true
	}
	return first, false
}

// stored returns an event as a reader of the journal gets it.
func stored(ev agent.Event, meta agent.Meta) agent.Event {
	switch ev := ev.(type) {
	case *agent.RunEnded:
		end := *ev
		end.Result = nil
		return &end
	case *agent.Suspended:
		if len(ev.Pause.Path) > 0 { // a subagent's, out of the fact of its call
			return &hole{meta}
		}
	}
	return ev
}

// add adds an event for the readers. Without any, it is only counted: who joins later reads facts
// from the journal.
func (t *topic) add(ev agent.Event, meta agent.Meta) {
	if meta.Session() == t.session {
		t.newest = meta
	}
	if t.readers == 0 {
		t.first++
		return
	}
	if len(t.events) == 2*keep {
		t.drop(keep)
	}
	size := sizeOf(ev)
	if t.bytes+size > keepBytes { // half of it, so that this is rare
		n := 0
		for left := t.bytes + size; n < len(t.events) && left > keepBytes/2; n++ {
			left -= t.sizes[n]
		}
		t.drop(n)
	}
	t.events, t.sizes, t.bytes = append(t.events, ev), append(t.sizes, size), t.bytes+size
}

// drop drops the oldest events.
func (t *topic) drop(n int) {
	for _, size := range t.sizes[:n] {
		t.bytes -= size
	}
	t.events, t.sizes = slices.Delete(t.events, 0, n), slices.Delete(t.sizes, 0, n)
	t.first += n
}

// forgetAll drops all events, because no reader needs them.
func (t *topic) forgetAll() { t.first, t.events, t.sizes, t.bytes = t.head(), nil, nil, 0 }

// sizeOf returns the bytes of an event as JSON, or a little less.
func sizeOf(ev agent.Event) int {
	switch ev := ev.(type) {
	case *agent.TextDelta:
		return len(ev.Text)
	case *agent.ReasoningDelta:
		return len(ev.Text)
	case *agent.CallDelta:
		return len(ev.Text)
	case *hole:
		return 0
	case agent.Fact:
		rec, _ := machine.Encode(ev) // readers can't be sent one that can't be encoded
		return len(rec.Data)
	}
	raw, _ := agent.MarshalEvent(ev)
	return len(raw)
}

// finish records the end of a run.
func (t *topic) finish() {
	t.driven, t.remote = false, false
	t.call.clear()
	t.rest()
}

// head is the number that the next event will have.
func (t *topic) head() int { return t.first + len(t.events) }

// unused reports whether nobody uses the topic, so that it can be forgotten.
func (t *topic) unused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.driven || t.readers > 0 {
		return false
	}
	t.begun()
	return true
}
