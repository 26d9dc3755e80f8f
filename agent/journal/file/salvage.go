package file

import (
	"context"
	"errors"
	"io"

	"github.com/pawlkit/pawl/agent/journal"
)

// Salvage makes a damaged session usable again: it keeps all changes before the first damaged line. The damaged log is kept beside the new
// one, as a file with the extension .damaged in place of what an earlier Salvage has left there, until the session is deleted whole. The
// Repair says what is gone. Every lease is released, and every fence stale. For a session without damage, or an unknown one, it is zero, and nothing changes.
//
// What is cut had been acknowledged. Salvage is for a person who has looked, not for a program that wants to continue.
func (st *Store) Salvage(ctx context.Context, name string) (Repair, error) {
	if err := journal.ValidateSession(name); err != nil {
		return Repair{}, err
	}
	if err := ctx.Err(); err != nil {
		return Repair{}, failed("salvage", name, err)
	}
	s, err := st.borrow(name)
	if err != nil {
		return Repair{}, failed("salvage", name, err)
	}
	defer st.giveBack(s)
	var r Repair
	err = s.alone(ctx, func() error {
		size, err := s.hold(ctx, false)
		if err != nil || s.file == nil {
			return err
		}
		defer s.leave()
		r, err = s.salvage(size)
		return err
	})
	return r, failed("salvage", name, err)
}

// salvage reads the log from its beginning, whatever was known of it.
func (s *session) salvage(size int64) (Repair, error) {
	s.forget()
	cut, err := s.fold(size)
	var damage *CorruptError
	switch {
	case err == nil: // a torn end is for the next one to cut
		if cut != nil {
			s.forget()
		}
		return Repair{}, nil
	case !errors.As(err, &damage):
		s.forget()
		return Repair{}, err
	}
	r := *s.torn(size, damage.Problem)
	if err := s.setAside(size); err != nil {
		s.forget()
		return Repair{}, err
	}
	fence, err := s.mostFence(damage.Offset, size)
	if err == nil {
		err = s.store.passFence(fence) // for a session that is left without a lease
	}
	if err != nil {
		s.forget()
		return Repair{}, err
	}
	if s.head.Fence > 0 {
		s.head.Fence = fence
		s.released()
	}
	if s.n == 0 { // not one change is left
		err = s.file.Truncate(0)
		s.forget()
	} else {
		err = s.rewrite(s.head.Pruned)
	}
	if err != nil {
		s.forget()
		return Repair{}, err
	}
	return r, nil
}

// mostFence returns a number that no fence of the session was above: what can be read behind the damage may name some,
// and each line that can't be read may have been a lease.
func (s *session) mostFence(from, size int64) (uint64, error) {
	most := s.head.Fence
	in := readLines(s.file, from, size)
	defer in.close()
	unread := uint64(0)
	for {
		text, _, whole, err := in.next()
		if err == io.EOF {
			return most + unread, nil
		}
		if err != nil {
			return 0, err
		}
		var l line
		if !whole || l.parse(text) != nil {
			unread++
			continue
		}
		most = max(most, l.fence)
	}
}

// setAside copies the damaged log.
func (s *session) setAside(size int64) error {
	f, err := s.store.fs.Open(s.stem+damagedExt, true)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return err
	}
	b := make([]byte, chunk)
	for off := int64(0); off < size; {
		n, err := s.file.ReadAt(b[:min(chunk, size-off)], off)
		if n == 0 && err != nil {
			return err
		}
		if _, err := f.WriteAt(b[:n], off); err != nil {
			return err
		}
		off += int64(n)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return s.store.fs.Sync()
}
