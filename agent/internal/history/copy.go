package history

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
)

// Copy returns the facts of a session as facts of another one, up to the last point at which no
// model call and no tool call is open. upTo bounds the numbers of the facts that are copied; 0
// means all. The facts must be numbered without gaps; the copies are numbered from 1. A
// [machine.Snapshot] is copied only if it is the first of them: others repeat what the facts before
// them say.
//
// The copy has the state of the original at that point, but for its name, the numbers of facts
// (State.Seq and RunState.Start), and State.Keys and State.Totals, which it doesn't have unless its
// name is that of the original.
func Copy(from, to string, facts []machine.Fact, upTo uint64) ([]machine.Fact, error) {
	var out []machine.Fact
	keep, m := 0, machine.New(to)
	starts := make(map[uint64]uint64) // the numbers in the copy of the facts that start runs
	for i, f := range facts {
		meta := f.Envelope()
		if upTo > 0 && meta.Seq > upTo {
			break
		}
		if next := facts[0].Envelope().Seq + uint64(i); meta.Seq != next {
			return nil, &machine.FactError{Session: to, Seq: meta.Seq, Kind: machine.Record(f).Kind,
				Problem: fmt.Sprintf("its number should be %d", next)}
		}
		switch f.(type) {
		case *machine.Snapshot:
			if i > 0 {
				continue
			}
		case *machine.Delivered:
			if from != to { // the copy has no ends to be delivered
				continue
			}
		}
		origin, number := machine.Origin{}, meta.Seq
		if meta.Origin != nil {
			origin = *meta.Origin
		}
		origin.Session = to
		meta.Origin, meta.Seq = &origin, uint64(len(out))+1
		f = machine.Stamp(clone(f), meta)
		setOwner(f, from, to)
		if f, ok := f.(*machine.RunStarted); ok {
			if f.Replaces != nil { // by default a run that the snapshot has
				p := *f.Replaces
				p.Start = cmp.Or(starts[p.Start], 1)
				f.Replaces = &p
			}
			starts[number] = f.Seq
		}
		if err := m.Apply(f); err != nil {
			return nil, err
		}
		out = append(out, f)
		if r := m.State().Run; !r.IsOpen() || r.Stage == machine.StageReady || r.Stage == machine.StageReplied {
			keep = len(out)
		}
	}
	return out[:keep], nil
}

// clone returns a copy of a fact that shares what it contains.
func clone(f machine.Fact) machine.Fact {
	v := reflect.New(reflect.TypeOf(f).Elem())
	v.Elem().Set(reflect.ValueOf(f).Elem())
	return v.Interface().(machine.Fact)
}

// setOwner sets, in a fact that starts a run or stands for one, the session that the run took
// place in. In a copy of a copy that is the first session. The parent and the keys of inputs belong
// to that session, too, unless the copy has its name: an input of the copy may use a key again.
func setOwner(f machine.Fact, from, to string) {
	switch f := f.(type) {
	case *machine.RunStarted:
		f.From = cmp.Or(f.From, from)
		if from != to {
			f.Key, f.ParentSession, f.Ancestors = "", "", nil
		}
	case *machine.Steered:
		if from != to {
			f.Key = ""
		}
	case *machine.Snapshot:
		f.From = cmp.Or(f.From, from)
		if f.State == nil || f.State.Run == nil { // Apply refuses it
			return
		}
		s, r := *f.State, *f.State.Run
		if from != to {
			s.Keys, s.Parent, s.Totals, s.Ends, s.Spent = nil, "", machine.Totals{Copied: true}, nil, nil
			r.Ancestors = nil
		}
		start := min(r.Start, 1) // the snapshot stands for the fact that started the run
		s.Ends = slices.Clone(s.Ends)
		for i := range s.Ends {
			if e := &s.Ends[i]; e.Run == r.ID {
				e.Start = start
			}
		}
		r.Start = start
		s.Run, f.State = &r, &s
	}
}
