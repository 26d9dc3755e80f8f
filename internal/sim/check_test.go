package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// check looks at what is left when everything has ended. p has driven the sessions.
func (s *simulation) check(p *process) {
	fresh := s.start(processes+1, "fresh") // knows only what is in the store
	defer fresh.kill()
	for head, err := range s.store.Heads(context.Background(), journal.Filter{}) {
		if err != nil {
			s.fail("the store lists a session with an error: %v", err)
			continue
		}
		if head.Kind == "" { // else it is the log of a run of plans
			s.checkSession(head, p, fresh)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, all := range s.kept {
		for _, l := range all {
			s.checkCalls(l)
			head, err := s.store.Head(context.Background(), session)
			s.checkEnds(l, err == nil && head.Seq > 0 && l == all[len(all)-1])
		}
		s.checkReplay(session, all)
	}
	for _, r := range s.readers {
		s.checkReading(r)
	}
	s.checkHistories()
}

// checkSession compares what the store has of a session with what was kept, and with what two
// processes say about it.
func (s *simulation) checkSession(head journal.Head, p, fresh *process) {
	name, child := head.Session, strings.HasPrefix(head.Session, machine.ChildPrefix)
	ctx := context.Background()
	facts, err := fresh.agent.Session(name).Facts(ctx)
	if err != nil || len(facts) == 0 {
		if head.Seq > 0 {
			s.fail("%s can't be read: %v", name, err)
		}
		return
	}
	m, err := machine.Replay(name, facts...)
	if err != nil {
		s.fail("%s can't be replayed: %v", name, err)
		return
	}
	switch run := m.State().Run; {
	case run == nil:
		s.fail("%s has facts, but no run", name)
	case child: // one whose call is over stays as a process that has died, or its store, left it
	case run.IsOpen():
		s.fail("%s: a run is left %s", name, run.Status)
	case len(head.Open) > 0:
		s.fail("%s: left open: %v", name, head.Open)
	}
	if want := m.Head(); string(want.Status) != head.Status || len(want.Open) != len(head.Open) ||
		want.Title != head.Title {
		s.fail("%s: the head is %+v, and the state makes it %+v", name, head, want)
	}
	if head.Owner != "" && time.Now().Before(head.Until) {
		s.fail("%s: nobody drives it, and it is held by %s", name, head.Owner)
	}
	s.mu.Lock()
	l := s.newest(name, false)
	kept := l.facts[max(0, len(l.facts)-len(facts)):]
	s.mu.Unlock()
	for i, f := range kept {
		if shown(f) != shown(facts[i]) {
			s.fail("%s: fact %d was stored as %s, and is now %s", name, f.Envelope().Seq, shown(f), shown(facts[i]))
		}
	}
	if child {
		return
	}
	s.checkMessages(name, facts)
	if a, b := s.view(p, name), s.view(fresh, name); a != b {
		s.fail("%s: the process that drove it says\n%s\nand another\n%s", name, a, b)
	}
}

// view is what a process says about a session.
func (s *simulation) view(p *process, session string) string {
	ctx, h := context.Background(), p.agent.Session(session)
	var all []any
	add := func(v any, err error) { all = append(all, v, fmt.Sprint(err)) }
	res, err := h.Result(ctx)
	add(res, err)
	rules, err := h.Rules(ctx)
	add(rules, err)
	data, err := json.Marshal(all)
	if err != nil {
		s.fail("%s: %v", session, err)
	}
	return string(data)
}

// checkMessages wants the results of calls right after them, in their order.
func (s *simulation) checkMessages(name string, facts []machine.Fact) {
	var want []string
	for _, m := range machine.Conversation(facts) {
		switch m.Role {
		case provider.RoleAssistant:
			if len(want) > 0 {
				s.fail("%s: the results of %v are missing", name, want)
			}
			want = nil
			for _, c := range m.Calls() {
				want = append(want, c.ID)
			}
		case provider.RoleTool:
			for i := range m.Parts {
				if r := m.Parts[i].Result; r != nil {
					if len(want) == 0 || want[0] != r.CallID {
						s.fail("%s: the result of %s is where that of %v should be", name, r.CallID, want)
						return
					}
					want = want[1:]
				}
			}
		default:
			if len(want) > 0 {
				s.fail("%s: the results of %v are missing", name, want)
			}
			want = nil
		}
	}
}

// encoded is a state, byte for byte.
func encoded(st *machine.State) []byte {
	rec, err := machine.Encode(&machine.Snapshot{State: st})
	if err != nil {
		return []byte(err.Error())
	}
	return rec.Data
}

// checkReplay wants the same state from the facts that were kept, from those that are left after a
// snapshot, and from their encoding.
func (s *simulation) checkReplay(session string, all []*log) {
	for _, l := range all {
		if len(l.facts) == 0 || l.facts[0].Envelope().Seq != 1 {
			continue
		}
		whole, err := machine.Replay(session, l.facts...)
		if err != nil {
			s.failLocked("%s: what was kept can't be replayed: %v", session, err)
			continue
		}
		want, again := encoded(whole.State()), machine.New(session)
		for i, f := range l.facts {
			if snap, ok := f.(*machine.Snapshot); ok && i > 0 {
				if got, want := encoded(again.State()), encoded(snap.State); !bytes.Equal(got, want) {
					s.failLocked("%s: snapshot %d is\n%s\nand the facts before it make\n%s", session, i+1, want, got)
				}
			}
			rec, err := machine.Encode(f)
			if err == nil && !bytes.Equal(rec.Data, l.records[i].Data) {
				err = fmt.Errorf("it is encoded as %s", rec.Data)
			}
			if err == nil {
				f, err = machine.Decode(session, rec)
			}
			if err == nil {
				err = again.Apply(f)
			}
			if err != nil {
				s.failLocked("%s: fact %d, %s: %v", session, i+1, l.records[i].Data, err)
				return
			}
		}
		if got := encoded(again.State()); !bytes.Equal(want, got) {
			s.failLocked("%s: the state is\n%s\nand replayed from its encoding\n%s", session, want, got)
		}
	}
}

// checkReading compares what a reader was shown with what was kept.
func (s *simulation) checkReading(r *reading) {
	for i, seq := range r.seqs {
		after := r.after
		if i > 0 {
			after = r.seqs[i-1]
		}
		_, snapshot := s.factAt(r.session, seq, r.facts[seq])
		if seq != after+1 && !snapshot {
			s.failLocked("a reader of %s was shown fact %d after %d", r.session, seq, after)
		}
	}
	for _, seq := range r.seqs {
		if ok, _ := s.factAt(r.session, seq, r.facts[seq]); !ok {
			s.failLocked("a reader of %s was shown as fact %d: %s", r.session, seq, r.facts[seq])
		}
	}
}

// factAt reports whether a log of the session has that fact with the number, and whether it is a
// snapshot.
func (s *simulation) factAt(session string, seq uint64, text string) (ok, snapshot bool) {
	for _, l := range s.kept[session] {
		i, found := slices.BinarySearchFunc(l.facts, seq, func(f machine.Fact, seq uint64) int {
			return int(f.Envelope().Seq) - int(seq)
		})
		if !found {
			continue
		}
		var f machine.Fact = l.facts[i]
		if snap, is := f.(*machine.Snapshot); is {
			return true, snap != nil
		}
		if shown(f) == text {
			return true, false
		}
	}
	return false, false
}
