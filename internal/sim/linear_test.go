package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/ratelimit"
)

// An input is what a process asks of the store.
type input struct {
	kind   string
	owner  string
	fence  uint64
	after  uint64
	ids    []string
	append *journal.Append
}

// An output is what it is answered.
type output struct {
	err     error
	unknown bool // the answer was lost
	lease   journal.Lease
	at      time.Time
	ids     []string
}

// A history is what the processes asked of the store and were answered, by session.
type history struct {
	clock    int64
	sessions map[string][]porcupine.Operation
}

// tick returns the next moment.
func (w *world) tick() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history.clock++
	return w.history.clock
}

// record adds what was answered to what was asked at begin.
func (w *world) record(session string, client int, begin int64, in input, out output) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &w.history
	h.clock++
	end := h.clock
	if out.unknown {
		end = math.MaxInt64
	}
	if h.sessions == nil {
		h.sessions = make(map[string][]porcupine.Operation)
	}
	h.sessions[session] = append(h.sessions[session],
		porcupine.Operation{ClientId: client, Call: begin, Return: end, Input: in, Output: out})
}

// A view is what the model of a session's lease and inbox has. Of ids it has the texts, since its
// states are compared.
type view struct {
	exists bool
	seq    uint64
	fence  uint64
	least  uint64 // all fences of a session by that name are above it
	owner  string
	inbox  string // ids, in order
	used   string // ids, in no order
}

func has(list, id string) bool { return strings.Contains(list, " "+id+" ") }

// plain returns ids without spaces.
func plain(ids []string) (out []string) {
	for _, id := range ids {
		out = append(out, strings.ReplaceAll(id, " ", "_"))
	}
	return out
}

func (v view) writable(fence uint64) bool { return fence == v.fence && (fence == 0 || v.owner != "") }

// step is the model of a session. It reports whether an answer is right.
func step(v view, in input, out output) (bool, view) {
	ok := out.err == nil
	var conflict *journal.ConflictError
	var held *journal.HeldError
	var posted *journal.PostedError
	switch in.kind {
	case "append":
		a := in.append
		may := v.writable(a.Fence) && a.After == v.seq
		again := v.writable(a.Fence) && a.After < v.seq && len(a.Records) > 0 // the same one again
		if !may {
			return out.unknown || ok && again || errors.As(out.err, &conflict) && !again, v
		}
		if a.Quiet && strings.TrimSpace(v.inbox) != "" {
			return out.unknown || errors.Is(out.err, journal.ErrInbox), v
		}
		v.exists, v.seq = true, v.seq+uint64(len(a.Records))
		for _, id := range plain(a.Taken) {
			if v.inbox = strings.Replace(v.inbox, " "+id+" ", " ", 1); !has(v.used, id) {
				v.used += id + " "
			}
		}
		return ok || out.unknown, v
	case "lease":
		if v.owner != "" && errors.As(out.err, &held) {
			return held.Owner == v.owner, v
		}
		if out.unknown && out.lease.Fence == 0 {
			return true, v
		}
		if out.lease.Fence <= max(v.least, v.fence) {
			return false, v
		}
		v.exists, v.fence, v.least, v.owner = true, out.lease.Fence, out.lease.Fence, in.owner
		return ok, v
	case "renew":
		return out.unknown || ok == (in.fence != 0 && v.writable(in.fence)), v
	case "release":
		if v.writable(in.fence) && in.fence != 0 {
			v.owner = ""
		}
		return ok || out.unknown, v
	case "post":
		ids := plain(in.ids)
		used := slices.ContainsFunc(ids, func(id string) bool { return has(v.used, id) })
		if !v.exists {
			return out.unknown || errors.Is(out.err, journal.ErrNoSession), v
		}
		if used {
			return out.unknown || errors.As(out.err, &posted), v
		}
		v.inbox += ids[0] + " "
		v.used += strings.Join(ids, " ") + " "
		return ok || out.unknown, v
	case "take":
		if !v.writable(in.fence) {
			return out.unknown || errors.As(out.err, &conflict), v
		}
		return out.unknown || ok && strings.Join(plain(out.ids), " ") == strings.TrimSpace(v.inbox), v
	case "delete":
		if in.after == journal.All {
			v = view{least: v.least, inbox: " ", used: " "}
		}
		return ok || out.unknown, v
	}
	return false, v
}

var sessionModel = porcupine.Model{
	Init: func() any { return view{inbox: " ", used: " "} },
	Step: func(v, in, out any) (bool, any) { return step2(v, in, out) },
	DescribeOperation: func(in, out any) string {
		i, o := in.(input), out.(output)
		if i.append != nil {
			return fmt.Sprintf("append after %d fence %d (%d records, takes %v): %v unknown=%t", i.append.After,
				i.append.Fence, len(i.append.Records), i.append.Taken, o.err, o.unknown)
		}
		return fmt.Sprintf("%s %s fence %d %v: %v %d %v unknown=%t", i.kind, i.owner, i.fence, i.ids, o.err,
			o.lease.Fence, o.ids, o.unknown)
	},
}

func step2(v, in, out any) (bool, any) {
	ok, next := step(v.(view), in.(input), out.(output))
	return ok, next
}

// checkHistories wants an order of all that was asked in which every answer is right. The caller
// holds mu.
func (s *simulation) checkHistories() {
	for _, session := range slices.Sorted(maps.Keys(s.history.sessions)) {
		ops := s.history.sessions[session]
		if !porcupine.CheckOperations(sessionModel, ops) {
			var text strings.Builder
			for _, o := range ops {
				fmt.Fprintf(&text, "\n%d-%d p%d %s", o.Call, o.Return, o.ClientId,
					sessionModel.DescribeOperation(o.Input, o.Output))
			}
			s.failLocked("the history of %s isn't linearizable:%s", session, text.String())
		}
	}
	if !porcupine.CheckOperations(allowanceModel, s.allowing.ops) {
		s.failLocked("the history of the allowance isn't linearizable: %v", s.allowing.ops)
	}
}

// allowed is how many takes of the allowance may be open.
const allowed = 2

// allowing is the allowance that all processes share, with its history.
type allowing struct {
	mu     sync.Mutex
	states map[string]ratelimit.AllowanceState
	ops    []porcupine.Operation
}

// allowances is the store of allowances as one process sees it.
type allowances struct{ p *process }

// Update implements [ratelimit.AllowanceStore].
func (a allowances) Update(ctx context.Context, key string, change ratelimit.AllowanceChange) error {
	o := port{a.p.world, a.p}
	if err := o.enter(ctx, "allowance", ""); err != nil {
		return err
	}
	w := &a.p.allowing
	w.mu.Lock()
	if w.states == nil {
		w.states = make(map[string]ratelimit.AllowanceState)
	}
	state, err := change(w.states[key], time.Now())
	if err == nil {
		w.states[key] = state
	}
	w.mu.Unlock()
	if lost := o.leave(ctx, "allowance", ""); lost != nil {
		return lost
	}
	return err
}

// takeOne takes from the allowance, and gives back later.
func (p *process) takeOne(ctx context.Context, o *op) error {
	begin := p.tick()
	release, err := p.allow.Take(ctx, "all")
	var refused *ratelimit.AllowanceError
	p.allowed("take", begin, err == nil, err != nil && !errors.As(err, &refused))
	if err != nil {
		return err
	}
	_ = p.wait(ctx, time.Duration(o.pick%uint64(20*time.Second)))
	begin = p.tick()
	release()
	p.allowed("release", begin, true, true) // release doesn't say whether the store failed
	return nil
}

func (p *process) allowed(what string, begin int64, ok, unknown bool) {
	end := p.tick()
	if unknown {
		end = math.MaxInt64
	}
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.allowing.ops = append(p.allowing.ops,
		porcupine.Operation{ClientId: p.number, Call: begin, Return: end, Input: what, Output: [2]bool{ok, unknown}})
}

// allowanceModel counts what is open.
var allowanceModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(open, in, out any) (bool, any) {
		n, o := open.(int), out.([2]bool)
		ok, unknown := o[0], o[1]
		switch {
		case in == "release":
			return true, n - 1
		case n < allowed:
			return ok || unknown, n + 1
		}
		return !ok || unknown, n
	},
}
