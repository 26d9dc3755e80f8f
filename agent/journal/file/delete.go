package file

import (
	"context"
	"errors"
	"io/fs"

	"github.com/pawlkit/pawl/agent/journal"
)

// Delete implements [journal.Store]. Records go by writing a log without them and putting it in the place of the old one, so it takes
// time in proportion to what stays. Either is synced whatever the store's durability.
func (st *Store) Delete(ctx context.Context, name string, upTo uint64) error {
	if err := journal.ValidateSession(name); err != nil {
		return err
	}
	if upTo == journal.All {
		return st.do(ctx, "delete", name, false, (*session).remove)
	}
	return st.do(ctx, "delete from", name, true, func(s *session) error {
		if upTo = min(upTo, s.head.Seq); upTo <= s.head.Pruned {
			return s.settle()
		}
		return s.rewrite(upTo)
	})
}

// remove deletes all files of the session, the log last: while that stands, the session does.
func (s *session) remove() error {
	if s.head.Fence > 0 {
		if err := s.store.passFence(s.head.Fence); err != nil {
			return err
		}
	}
	if s.file != nil {
		for _, ext := range []string{headExt + tempExt, headExt, tempExt, damagedExt, logExt} {
			if err := s.store.fs.Remove(s.stem + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		s.store.distrust(s.name, false)
	}
	return s.store.fs.Sync() // also if there was none: the one who removed it may have died before this
}

// rewrite puts a new log in the place of the old one, without the records up to a number. It is what pruning does, and how a
// log comes clear of pages that a failed sync has left in doubt: every line is verified, and what is there is on the disk.
func (s *session) rewrite(upTo uint64) (err error) {
	temp := s.stem + tempExt
	f, err := s.store.fs.Open(temp, true)
	if err != nil {
		return err
	}
	fresh := &session{store: s.store, name: s.name, stem: s.stem, file: &shared{handle: f}}
	fresh.file.refs.Store(1)
	fresh.forget()
	defer func() {
		if err != nil {
			fresh.leave()
			fresh.drop()
		}
	}()
	// Locked before it has its name, so that nobody writes to it before the name is durable.
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
	if cut, err := fresh.fold(size); err != nil || cut != nil {
		return errors.Join(err, errors.New("what was written to "+temp+" can't be read"))
	}
	if err := s.store.fs.Rename(temp, s.stem+logExt); err != nil {
		return err
	}
	s.leave()
	s.drop()
	s.file, s.state, s.synced = fresh.file, fresh.state, fresh.end
	fresh.file = nil
	if err := s.store.fs.Sync(); err != nil {
		return err // the next change tries again, since named is false
	}
	s.named = true
	return nil
}

// copyTo writes what the log is without the records up to a number, and returns how many bytes that took.
func (s *session) copyTo(f handle, upTo uint64) (int64, error) {
	if err := f.Truncate(0); err != nil {
		return 0, err
	}
	w := copier{f: f, buf: buffers.Get().(*[]byte), n: 1}
	defer keepBuffer(w.buf)
	*w.buf = appendLog(*w.buf, newID(), s.name)
	*w.buf = appendState(*w.buf, w.n, upTo, &s.head)
	w.flush(chunk)

	var ids []string
	for id, taken := range s.ids {
		if taken {
			ids = append(ids, id)
		}
	}
	for ; len(ids) > 0; ids = ids[min(len(ids), 1000):] {
		w.n++
		*w.buf = appendClosed(*w.buf, w.n, ids[:min(len(ids), 1000)])
		w.flush(chunk)
	}
	items, err := s.items()
	if err != nil {
		return 0, err
	}
	for i := range items {
		w.n++
		*w.buf = appendPost(*w.buf, w.n, &items[i])
		w.flush(chunk)
	}
	at, bad := s.head.Updated.UnixNano(), error(nil)
	err = s.scan(upTo, func(l *line) bool {
		var data []byte
		if data, bad = l.content(); bad != nil {
			return false
		}
		r := journal.Record{Time: l.when(), Kind: string(l.kind), V: l.v, Data: data}
		w.n++
		*w.buf = appendRecord(*w.buf, w.n, l.seq, l.fence, &r)
		*w.buf = appendAppend(*w.buf, w.n, 1, at, nil, nil)
		w.flush(chunk)
		return w.err == nil
	})
	w.flush(0)
	return w.off, errors.Join(err, bad, w.err)
}

// A copier writes in large pieces. After an error it writes nothing.
type copier struct {
	f   handle
	buf *[]byte
	off int64
	n   uint64 // of the last change
	err error
}

// flush writes what is there, if it is more than least.
func (w *copier) flush(least int) {
	if len(*w.buf) <= least || w.err != nil {
		return
	}
	var n int
	n, w.err = w.f.WriteAt(*w.buf, w.off)
	w.off += int64(n)
	*w.buf = (*w.buf)[:0]
}
