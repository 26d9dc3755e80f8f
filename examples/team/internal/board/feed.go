package board

import (
	"sync"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// These are how many bytes are shown: of the end of a text, and of the beginning of a diff.
const (
	tail = 8 << 10
	most = 64 << 10
)

// A Feed keeps what is shown of workers that are at work: the end of their text, and their calls.
// It keeps nothing across restarts. It is safe for concurrent use.
type Feed struct {
	mu      sync.Mutex // guards what follows
	workers map[string]*worker
	pokes   int
	changed chan struct{} // closed at the next change
}

// A worker is what the worker of a step does, by the session of the step.
type worker struct {
	text    string
	settled string // what of text is recorded; the rest may be withdrawn
	calls   []liveCall
}

// A liveCall is a call of a worker.
type liveCall struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"` // writing, running, suspended, or how it has ended
}

// NewFeed returns an empty Feed.
func NewFeed() *Feed {
	return &Feed{workers: make(map[string]*worker), changed: make(chan struct{})}
}

// Node takes an event of the run of a step: see [plan.Config].
func (f *Feed) Node(_ string, ev agent.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	session := ev.Envelope().Session()
	w := f.workers[session]
	if w == nil {
		w = &worker{}
		f.workers[session] = w
	}
	switch ev := ev.(type) {
	case *agent.TextDelta:
		w.text = last(w.text+ev.Text, tail)
	case *agent.Reset, *agent.Lagged:
		w.text = w.settled
	case *agent.Replied:
		if w.text != w.settled {
			w.text += "\n\n"
		}
		w.settled = w.text
	case *agent.CallBegun:
		w.call(ev.Call, tools.TitleOf(ev.Name, nil), "writing")
	case *agent.ToolStarted:
		w.call(ev.Call.ID, tools.TitleOf(ev.Call.Name, ev.Call.Input), "running")
	case *agent.Suspended:
		w.call(ev.Pause.Call.ID, ev.Pause.Title, "suspended")
	case *agent.ToolFinished:
		w.call(ev.Call.ID, tools.TitleOf(ev.Call.Name, ev.Call.Input), string(ev.Result.Status))
		f.pokes++ // it may have changed files
	case *agent.RunEnded:
		if ev.Status != agent.Paused {
			delete(f.workers, session)
		}
	default:
		return
	}
	f.wake()
}

func (w *worker) call(id, title, status string) {
	for i := range w.calls {
		if w.calls[i].ID == id {
			w.calls[i] = liveCall{id, title, status}
			return
		}
	}
	w.calls = append(w.calls[max(0, len(w.calls)-7):], liveCall{id, title, status})
}

// Poke has all pages look again at what no event tells of, such as background work.
func (f *Feed) Poke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pokes++
	f.wake()
}

// wake wakes all who wait for changes. f.mu is held.
func (f *Feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// state returns a channel that is closed at the next change, and how often Poke was called.
func (f *Feed) state() (changed <-chan struct{}, pokes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed, f.pokes
}

// look returns what the worker of a session does.
func (f *Feed) look(session string) (text string, calls []liveCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.workers[session]; w != nil {
		return w.text, append(calls, w.calls...)
	}
	return "", nil
}

// last returns the end of a text, of at most most bytes. A text that is cut begins with "…".
func last(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for text = text[len(text)-most:]; len(text) > 0 && !utf8.RuneStart(text[0]); {
		text = text[1:]
	}
	return "…" + text
}
