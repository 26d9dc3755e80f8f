package file

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
)

// Append implements [journal.Store]. It costs one write and, under [Power], one sync.
func (st *Store) Append(ctx context.Context, a journal.Append) error {
	if err := a.Validate(); err != nil {
		return err
	}
	return st.do(ctx, "append to", a.Session, true, func(s *session) error { return s.append(&a) })
}

func (s *session) append(a *journal.Append) error {
	if !s.writable(a.Fence) {
		return s.conflict(a.After, a.Fence)
	}
	repeated, err := s.repeats(a)
	switch {
	case err != nil:
		return err
	case repeated:
		return s.ensureSynced()
	case a.After != s.head.Seq:
		return s.conflict(a.After, a.Fence)
	}
	c := &appended{After: a.After, Fence: a.Fence, Taken: a.Taken}
	for i := range a.Records {
		c.Records = append(c.Records, newRecord(&a.Records[i]))
	}
	if a.Head != nil {
		head := *a.Head
		head.Open = slices.Clone(head.Open)
		for i := range head.Open {
			head.Open[i].Expires = normalize(head.Open[i].Expires)
		}
		c.Head = &head
	}
	return s.commit(&change{Append: c})
}

// repeats reports whether the records of a are in the log already, at the same numbers and under
// the same fence.
func (s *session) repeats(a *journal.Append) (bool, error) {
	if len(a.Records) == 0 || a.After < s.head.Pruned || a.After+uint64(len(a.Records)) > s.head.Seq {
		return false, nil
	}
	want := a.Records
	for c, err := range s.appends(s.file, a.After, s.offset(a.After), s.end) {
		if err != nil {
			return false, err
		}
		for i := range c.Append.Records {
			if len(want) == 0 {
				return true, nil
			}
			if c.Append.Fence != a.Fence || !c.Append.Records[i].decode(0).Equal(want[0]) {
				return false, nil
			}
			want = want[1:]
		}
	}
	return len(want) == 0, nil
}
