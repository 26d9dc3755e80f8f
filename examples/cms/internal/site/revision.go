package site

import (
	"context"
	"iter"
	"time"
)

// pollRevision is how often [Site.Watch] looks for the writes of other processes.
const pollRevision = time.Second

// Revision returns a number that grows with every write, whichever process makes it.
func (s *Site) Revision(ctx context.Context) (int64, error) {
	return view(ctx, s, "reading the revision", func(tx *txn) (int64, error) {
		return value[int64](tx, "SELECT n FROM revision"), nil
	})
}

// Check writes something that changes nothing. Its error says whether the disk is full, or the file
// can't be written, or is gone.
func (s *Site) Check(ctx context.Context) error {
	return s.write(ctx, "checking the file", func(tx *txn) error {
		tx.exec("UPDATE revision SET n = n")
		return nil
	})
}

// Watch returns the current revision and then each newer one, until ctx ends. Writes through this
// Site are seen at once, those of other processes within a second. Several writes in quick
// succession may be seen as one.
func (s *Site) Watch(ctx context.Context) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		tick := time.NewTicker(pollRevision)
		defer tick.Stop()
		last := int64(-1)
		for {
			written := s.nextWrite() // before reading, so that no write is missed
			n, err := s.Revision(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				yield(0, err)
				return
			case n != last && !yield(n, nil):
				return
			}
			last = n
			select {
			case <-ctx.Done():
				return
			case <-written:
			case <-tick.C:
			}
		}
	}
}

// nextWrite returns a channel that the next write through this Site closes.
func (s *Site) nextWrite() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// notify tells those who wait for a write.
func (s *Site) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
