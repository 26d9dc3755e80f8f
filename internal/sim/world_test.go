package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A world is what the processes of a simulation share: the store, and what their tools change.
type world struct {
	program *program
	store   *journal.MapStore
	trace   func(format string, args ...any) // nil: nothing is traced
	began   time.Time

	mu       sync.Mutex // guards what follows; nobody waits while holding it
	wrong    []string   // what must never be
	kept     map[string][]*log
	started  map[string]uint64   // fences of calls whose start is in a log, by session and id
	effects  map[string][]effect // of calls, by idempotency key
	fences   map[string]uint64   // the highest that tools have seen, by session
	numbers  map[int]bool        // of calls that have had an effect
	flying   map[int]int         // calls that are being executed, by number
	readers  []*reading
	plans    map[string]bool           // runs of plans that were started
	version  int                       // of the tools on the shelf
	requests map[string][]string       // what the model was asked last, by run
	told     map[string][]agent.Status // how queued runs have ended, by run
	hosted   map[string]bool           // sessions that a host continues
	history  history
	allowing allowing
}

// A log is what was kept of a session, from its beginning to its deletion.
type log struct {
	session string
	facts   []machine.Fact
	records []journal.Record

	queued *time.Time // when its newest run may be started, if that is queued
	driven bool       // its newest run was queued, and is driven since
}

// An effect is what a call has changed.
type effect struct {
	tool, process string
	at            time.Duration
	undone        bool
}

func newWorld(p *program, trace func(string, ...any)) *world {
	return &world{program: p, store: &journal.MapStore{}, trace: trace, began: time.Now(),
		kept: make(map[string][]*log), started: make(map[string]uint64), effects: make(map[string][]effect),
		fences: make(map[string]uint64), flying: make(map[int]int),
		numbers: make(map[int]bool), plans: make(map[string]bool),
		requests: make(map[string][]string), told: make(map[string][]agent.Status), hosted: make(map[string]bool)}
}

// draw returns a number that depends on the seed and the keys.
func (w *world) draw(keys ...any) uint64 {
	h := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], w.program.seed)
	h.Write(b[:])
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			h.Write([]byte(k))
		case int:
			binary.LittleEndian.PutUint64(b[:], uint64(k))
			h.Write(b[:])
		case uint64:
			binary.LittleEndian.PutUint64(b[:], k)
			h.Write(b[:])
		default:
			panic(fmt.Sprintf("a key of type %T", k))
		}
		h.Write([]byte{0})
	}
	return rand.NewPCG(h.Sum64(), 7).Uint64()
}

// within returns a time up to most that depends on the seed and the keys.
func (w *world) within(most time.Duration, keys ...any) time.Duration {
	return time.Duration(w.draw(keys...) % uint64(most))
}

// fail records what must never be.
func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failLocked(format, args...)
}

func (w *world) failLocked(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.note("WRONG: %s", text)
	if !slices.Contains(w.wrong, text) && len(w.wrong) < 20 {
		w.wrong = append(w.wrong, text)
	}
}

// note traces what happens.
func (w *world) note(format string, args ...any) {
	if w.trace != nil {
		w.trace("%9.3fs  %s", time.Since(w.began).Seconds(), fmt.Sprintf(format, args...))
	}
}

// append appends to the store, and looks at what it keeps. The caller holds mu.
func (w *world) append(a journal.Append) error {
	head, _ := w.store.Head(context.Background(), a.Session)
	if err := w.store.Append(context.Background(), a); err != nil {
		return err
	}
	if a.Head != nil && a.Head.Kind != "" || head.Kind != "" {
		for _, rec := range a.Records {
			w.note("%s: %s %s", a.Session, rec.Kind, rec.Data)
		}
		return nil // the log of a run of plans
	}
	l := w.newest(a.Session, head.Seq == 0)
	for i, rec := range a.Records {
		rec.Seq = a.After + uint64(i) + 1
		if n := len(l.records); n > 0 && rec.Seq <= l.records[n-1].Seq {
			continue // it is the same append again
		}
		f, err := machine.Decode(a.Session, rec)
		if err != nil {
			w.failLocked("a record of %s can't be decoded: %v", a.Session, err)
			continue
		}
		l.records, l.facts = append(l.records, rec), append(l.facts, f)
		if f, ok := f.(*machine.ToolStarted); ok {
			w.started[a.Session+f.Call.ID] = a.Fence
		}
		w.note("%s %d %s", a.Session, rec.Seq, brief(f))
		w.noteQueue(l, f)
	}
	return nil
}

// newest returns the log of a session, or a new one.
func (w *world) newest(session string, begins bool) *log {
	all := w.kept[session]
	if n := len(all); n > 0 && !(begins && len(all[n-1].records) > 0) {
		return all[n-1]
	}
	l := &log{session: session}
	w.kept[session] = append(all, l)
	return l
}

// brief says what a fact is, for the trace.
func brief(f machine.Fact) string {
	text := strings.TrimPrefix(fmt.Sprintf("%T", f), "*machine.")
	switch f := f.(type) {
	case *machine.ToolStarted:
		text += " " + f.Call.Name + string(f.Call.Input)
	case *machine.ToolFinished:
		text += fmt.Sprintf(" %s%s: %s %q", f.Call.Name, f.Call.Input, f.Result.Status, f.Result.Text())
	case *machine.Suspended:
		text += fmt.Sprintf(" %s%s: %s %s", f.Pause.Call.Name, f.Pause.Call.Input, f.Pause.Kind, f.Pause.ID)
	case *machine.Decided:
		text += fmt.Sprintf(" %s on %s", f.Decision.Kind, f.Decision.ID)
	case *machine.RunEnded:
		text += fmt.Sprintf(" %s %s %s", f.Status, f.Code, f.Reason)
	case *machine.RunStarted:
		text += " " + f.Message.Text()
	case *machine.Steered:
		text += " " + f.Message.Text()
	}
	return text
}

// act is the effect of a call. It reports whether it counts: not if the process is dead, or if a
// newer writer of the session has been here.
func (w *world) act(ctx context.Context, p *process, n int, once bool) (done bool) {
	c, ok := tools.CallOf(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !ok:
		w.failLocked("a tool runs without a call")
		return false
	case p.dead():
		return false
	case c.Fence < w.fences[c.Session]:
		w.note("%s: the fence of call %s(%d) is stale", p.name, c.Name, n)
		return false
	}
	w.fences[c.Session] = c.Fence
	fence, known := w.started[c.Session+c.ID]
	if !known {
		w.failLocked("%s(%d) has an effect, but its start isn't in the log", c.Name, n)
	}
	if fence > c.Fence {
		w.failLocked("%s(%d) of %s has an effect after another writer has started it again", c.Name, n, p.name)
	}
	head, _ := w.store.Head(context.Background(), c.Session)
	if head.Fence > c.Fence && c.Name != "deaf" && !p.stalled() {
		w.failLocked("%s(%d) of %s has an effect, though %s has the session", c.Name, n, p.name, head.Owner)
	}
	before := w.effects[c.IdempotencyKey]
	for _, e := range before {
		if once && !e.undone {
			w.failLocked("%s(%d) has two effects: of %s at %v, and of %s", c.Name, n, e.process, e.at, p.name)
		}
	}
	if other := w.effects[c.ID]; c.ID != c.IdempotencyKey && len(other) > 0 {
		w.failLocked("%s(%d) runs with two keys", c.Name, n)
	}
	w.numbers[n] = true
	w.effects[c.IdempotencyKey] = append(before, effect{tool: c.Name, process: p.name, at: time.Since(w.began)})
	w.note("%s: effect of %s(%d)", p.name, c.Name, n)
	return true
}

// acted reports whether a call with a number has had its effect, and whether one is being executed.
func (w *world) acted(n int) (done, flying bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.numbers[n], w.flying[n] > 0
}

// fly counts calls that are being executed.
func (w *world) fly(n, more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flying[n] += more
}

// order is the input of the tools.
type order struct {
	N int `json:"n"`
}

// shown returns a fact as readers see it.
func shown(f machine.Fact) string {
	if s, ok := f.(*machine.Suspended); ok {
		own := *s
		own.State = nil
		f = &own
	}
	data, err := agent.MarshalEvent(f)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
