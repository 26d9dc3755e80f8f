package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/pawlkit/pawl/agent/journal"
)

// Delete implements [journal.Store]. It removes records by replacing the log with one that lacks
// them, in time proportional to what stays. It is synced whatever the store's durability.
func (st *Store) Delete(ctx context.Context, name string, upTo uint64) error {
	if err := journal.ValidateSession(name); err != nil {
		return err
	}
	if upTo == journal.All {
		return st.do(ctx, "delete", name, false, func(s *session) error { return s.remove(ctx) })
	}
	return st.do(ctx, "delete from", name, true, func(s *session) error {
		if upTo = min(upTo, s.head.Seq); upTo <= s.head.Pruned {
			return s.ensureSynced()
		}
		return s.rewrite(upTo)
	})
}

// remove deletes all files of the session. The session exists as long as its log does, so that is
// the last one.
func (s *session) remove(ctx context.Context) error {
	if s.head.Fence > 0 {
		if err := s.store.keepFence(ctx, s.head.Fence); err != nil {
			return err
		}
	}
	if s.file != nil {
		for _, ext := range []string{headExt + tempExt, headExt, tempExt, damagedExt, endExt, logExt} {
			if err := s.store.fs.Remove(s.base + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		s.store.setUnsynced(s.name, false)
	}
	return s.store.fs.Sync() // even without a log: whoever removed it may have died before this
}

// rewrite replaces the log by one without the records up to a number. That is how records are
// pruned, and how a log gets rid of pages that a failed sync has left in doubt: every line is
// verified, and the new log is on the disk before it has its name.
func (s *session) rewrite(upTo uint64) (err error) {
	temp := s.base + tempExt
	f, err := s.store.fs.Open(temp, true)
	if err != nil {
		return err
	}
	fresh := newSession(s.store, s.name)
	fresh.file = newSharedFile(f)
	defer func() {
		if err != nil {
			fresh.leave()
			fresh.close()
		}
	}()
	// It is locked before it has its name, so that nobody writes to it before the name is durable.
	if ok, err := f.TryLock(); !ok {
		return errors.Join(err, errors.New(temp+" is locked"))
	}
	size, err := s.copyTo(f, upTo)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if cut, err := fresh.load(size); err != nil || cut != nil {
		return errors.Join(err, errors.New("what was written to "+temp+" can't be read"))
	}
	if err := s.store.fs.Rename(temp, s.base+logExt); err != nil {
		return err
	}
	s.leave()
	s.close()
	s.file, s.state, s.synced = fresh.file, fresh.state, fresh.end
	fresh.file = nil
	if err := s.store.fs.Sync(); err != nil {
		return err // the next change syncs it again
	}
	s.dirSynced = true
	s.acknowledge()
	return nil
}

// copyTo writes the log without the records up to a number, and returns its size.
func (s *session) copyTo(f handle, upTo uint64) (size int64, err error) {
	if err := f.Truncate(0); err != nil {
		return 0, err
	}
	out := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), chunk)
	write := func(c *change) error {
		line, err := encodeLine(c)
		size += int64(len(line))
		if err == nil {
			_, err = out.Write(line)
		}
		return err
	}
	first := &change{N: 1, At: s.head.Updated, State: s.snapshot()}
	first.begin(s.name)
	first.State.Head.Seq, first.State.Head.Pruned = upTo, upTo
	if err := write(first); err != nil {
		return 0, err
	}
	n := first.N
	for c, err := range s.appends(s.file, upTo, s.offset(upTo), s.end) {
		if err != nil {
			return 0, err
		}
		n++
		a := c.Append
		// What else the change did is in the snapshot.
		kept := &change{N: n, At: c.At, Append: &appended{After: a.After, Fence: a.Fence, Records: a.Records}}
		if err := write(kept); err != nil {
			return 0, err
		}
	}
	return size, out.Flush()
}
