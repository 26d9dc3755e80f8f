package file

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent/journal"
)

// Read implements [journal.Store]. It yields what was there when the loop began, in pages of 256 KiB, and holds no lock
// meanwhile: a log that is pruned or deleted under it is read to its end.
//
// Every line is verified. Damage is a [*CorruptError] in place of the record.
func (st *Store) Read(ctx context.Context, name string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := journal.ValidateSession(name); err != nil {
			yield(journal.Record{}, err)
			return
		}
		r := reader{next: after + 1, yield: yield}
		err := st.do(ctx, "read", name, false, func(s *session) error { return r.start(s, after) })
		if err == nil && r.file != nil {
			defer r.file.release()
			err = r.run(ctx, name)
		} else if err == nil {
			err = ctx.Err()
		}
		if err != nil && !r.stopped {
			yield(journal.Record{}, failed("read", name, err))
		}
	}
}

// A reader goes over one log once.
type reader struct {
	file      *shared
	name      string // of the file
	from, end int64
	next, seq uint64 // the next record, and the last

	kinds   map[string]string // so that a kind is one string for all its records
	yield   func(journal.Record, error) bool
	stopped bool
	err     error
}

func (r *reader) start(s *session, after uint64) error {
	switch {
	case after >= s.head.Seq:
		return nil
	case after < s.head.Pruned:
		return &journal.PrunedError{Session: s.name, After: after, UpTo: s.head.Pruned}
	}
	r.file, r.name = s.file, s.stem+logExt
	r.file.refs.Add(1)
	r.from, r.end, r.seq = s.from(after), s.end, s.head.Seq
	return nil
}

func (r *reader) run(ctx context.Context, name string) error {
	r.kinds = make(map[string]string)
	err := scan(name, r.name, r.file, r.from, r.end, func(l *line) bool {
		if l.seq < r.next {
			return true
		}
		if r.err = ctx.Err(); r.err != nil {
			return false
		}
		if l.seq != r.next {
			r.err = &CorruptError{Session: name, File: r.name, Offset: r.from, Problem: fmt.Sprintf("record %d is missing", r.next)}
			return false
		}
		r.next++
		var rec journal.Record
		if rec, r.err = r.record(l); r.err != nil {
			return false
		}
		r.stopped = !r.yield(rec, nil)
		return !r.stopped
	})
	switch {
	case err != nil:
		return err
	case r.err != nil || r.stopped:
		return r.err
	case r.next != r.seq+1:
		return &CorruptError{Session: name, File: r.name, Offset: r.end, Problem: fmt.Sprintf("record %d is missing", r.next)}
	}
	return ctx.Err()
}

func (r *reader) record(l *line) (journal.Record, error) {
	data, err := l.content()
	if err != nil {
		return journal.Record{}, err
	}
	kind, ok := r.kinds[string(l.kind)]
	if !ok {
		kind = string(l.kind)
		r.kinds[kind] = kind
	}
	return journal.Record{Seq: l.seq, Time: l.when(), Kind: kind, V: l.v, Data: data}, nil
}
