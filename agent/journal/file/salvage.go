package file

import (
	"context"
	"errors"
	"io"

	"github.com/pawlkit/pawl/agent/journal"
)

// Salvage makes a damaged session usable again: it keeps all changes before the first damaged line.
// The damaged log is kept beside the new one, with the extension .damaged, until the next Salvage
// or until the session is deleted whole. The [Repair] says what is gone. Every lease is released,
// and every fence is stale. For a session without damage, or an unknown one, the Repair is zero,
// and nothing changes.
//
// What is cut had been acknowledged. Salvage is for a person who has inspected the damage, not for
// automatic recovery.
func (st *Store) Salvage(ctx context.Context, name string) (Repair, error) {
	err := journal.ValidateSession(name)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Repair{}, failed("salvage", name, err)
	}
	s, err := st.acquire(name)
	if err != nil {
		return Repair{}, failed("salvage", name, err)
	}
	defer st.release(s)
	var r Repair
	err = s.exclusive(ctx, func() error {
		size, err := s.lockLog(ctx, false)
		if err != nil || s.file == nil {
			return err
		}
		defer s.leave()
		r, err = s.salvage(ctx, size)
		if err != nil || r == (Repair{}) {
			s.reset()
		}
		return err
	})
	if err != nil {
		return Repair{}, failed("salvage", name, err)
	}
	return r, nil
}

// salvage reads the log from its beginning, whatever was known of it.
func (s *session) salvage(ctx context.Context, size int64) (Repair, error) {
	s.reset()
	var damage *CorruptError
	_, err := s.load(size)
	if err == nil {
		err = s.checkEnd()
	}
	if !errors.As(err, &damage) {
		return Repair{}, err // an incomplete change at the end is cut by the next call
	}
	if err := s.copyDamaged(size); err != nil {
		return Repair{}, err
	}
	fence, err := s.highestFence(ctx, damage.Offset, size, damage.Missing)
	if err == nil {
		err = s.store.keepFence(ctx, fence) // for a session that is left without a lease
	}
	if err != nil {
		return Repair{}, err
	}
	r := *s.cut(size, errors.New(damage.Problem))
	if s.head.Fence > 0 {
		s.head.Fence = fence
		s.released()
	}
	if s.n > 0 {
		return r, s.rewrite(s.head.Pruned)
	}
	s.reset()
	if err := s.file.Truncate(0); err != nil {
		return r, err
	}
	s.acknowledge()
	return r, nil
}

// highestFence returns a number that no fence of the session was above. What can be read behind the
// damage may name some, and what can't, or is missing, may have been leases, of at least minLease
// bytes each.
func (s *session) highestFence(ctx context.Context, from, size, missing int64) (uint64, error) {
	const minLease = 100
	deleted, err := s.store.lastFence(ctx)
	if err != nil {
		return 0, err
	}
	highest, damaged := max(s.head.Fence, deleted), (missing+minLease-1)/minLease
	for in := readLines(s.file, from, size); ; {
		var c change
		err := in.change(&c)
		switch {
		case errors.Is(err, io.EOF):
			return highest + uint64(damaged), nil
		case isDamage(err):
			damaged += 1 + (in.next-in.off)/minLease
		case err != nil:
			return 0, err
		case c.Lease != nil:
			highest = max(highest, c.Lease.Fence)
		case c.Append != nil:
			highest = max(highest, c.Append.Fence)
		}
	}
}

func (s *session) copyDamaged(size int64) error {
	f, err := s.store.fs.Open(s.base+damagedExt, true)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := io.Copy(io.NewOffsetWriter(f, 0), io.NewSectionReader(s.file, 0, size)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return s.store.fs.Sync()
}
