package file

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent/journal"
)

// Read implements [journal.Store]. It yields the records that were there when the loop began, in
// pages of 256 KiB, and holds no lock meanwhile: a log that is pruned or deleted during the loop is
// still read to its end.
//
// Every line is verified. Damage is a [*CorruptError] in place of the record.
func (st *Store) Read(ctx context.Context, name string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		err := journal.ValidateSession(name)
		if err == nil {
			err = st.read(ctx, name, after, yield)
		}
		if err != nil {
			yield(journal.Record{}, failed("read", name, err))
		}
	}
}

// read yields records, and returns the error to be yielded last, if any.
func (st *Store) read(ctx context.Context, name string, after uint64, yield func(journal.Record, error) bool) error {
	var (
		f        *sharedFile
		from, to int64
		last     uint64
		log      *session // only what is fixed at its creation is used without the lock
	)
	err := st.run(ctx, name, false, func(s *session) error {
		switch {
		case after >= s.head.Seq:
			return nil
		case after < s.head.Pruned:
			return &journal.PrunedError{Session: name, After: after, UpTo: s.head.Pruned}
		}
		f, log = s.file, s
		f.refs.Add(1)
		from, to, last = s.offset(after), s.end, s.head.Seq
		return nil
	})
	if err != nil {
		return err
	}
	if f == nil {
		return ctx.Err()
	}
	defer f.release()
	for c, err := range log.appends(f, after, from, to) {
		if err != nil {
			return err
		}
		if c.Append.After != after {
			return log.corrupt(to, fmt.Errorf("record %d is missing", after+1))
		}
		for i := range c.Append.Records {
			if err := ctx.Err(); err != nil {
				return err
			}
			after++
			if !yield(c.Append.Records[i].decode(after), nil) {
				return nil
			}
		}
	}
	if after != last {
		return log.corrupt(to, fmt.Errorf("record %d is missing", after+1))
	}
	return ctx.Err()
}
