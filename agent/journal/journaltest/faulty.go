package journaltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Faults says what goes wrong in a [Faulty] store: each share is between 0 and 1, and of all calls.
// Their sum is at most 1.
type Faults struct {
	// Seed chooses the calls: with the same one, the nth call of a method for a session goes wrong
	// in the same way, whatever other sessions do meanwhile.
	Seed uint64
	// Fail is the share of calls that do nothing and return an error. Keep is the share of those
	// that do what they are asked and return that error nevertheless. It leaves open whether
	// anything was changed: see [journal.Unclear].
	Fail, Keep float64
	// Hang is the share of calls that do nothing and return when their context has ended.
	Hang float64
	// Slow is the share of calls that first wait for Delay; 0: 100 ms.
	Slow  float64
	Delay time.Duration
	// Only, if it isn't nil, chooses the calls that may go wrong, by the name of the method, such
	// as "Append", and the session, which is empty for Heads and for the methods of a
	// [journal.Queue].
	Only func(method, session string) bool
}

// Faulty returns a store that fails, hangs, is slow, and fails after it has kept what it was given,
// for tests of programs: agents get over all of that, or say that they didn't. A sequence fails at
// one of its first elements. It panics if the shares make no sense.
//
// It has the methods of [journal.Store], and those of a [journal.Queue] if the store is one. It is
// safe for concurrent use.
func Faulty(store journal.Store, f Faults) journal.Store {
	sum := f.Fail + f.Keep + f.Hang + f.Slow
	if min(f.Fail, f.Keep, f.Hang, f.Slow) < 0 || sum > 1 {
		panic(fmt.Sprintf("journaltest: the shares of Faults are %v, %v, %v and %v; give numbers from 0 on whose sum is "+
			"at most 1", f.Fail, f.Keep, f.Hang, f.Slow))
	}
	if f.Delay == 0 {
		f.Delay = 100 * time.Millisecond
	}
	s := &faulty{Faults: f, store: store, calls: make(map[[2]string]uint64)}
	if queue, ok := store.(journal.Queue); ok {
		return &faultyQueue{s, queue}
	}
	return s
}

// errFaulty is the error of a call that has gone wrong.
var errFaulty = errors.New("journaltest: the store has failed")

type faulty struct {
	Faults
	store journal.Store

	mu    sync.Mutex
	calls map[[2]string]uint64 // by method and session
}

// A fault is what goes wrong in a call.
type fault int

const (
	none fault = iota
	fails
	keeps
	hangs
	slow
)

// next returns what goes wrong in the next call of a method for a session, and a number that it
// chooses from.
func (s *faulty) next(method, session string) (fault, uint64) {
	if s.Only != nil && !s.Only(method, session) {
		return none, 0
	}
	s.mu.Lock()
	key := [2]string{method, session}
	s.calls[key]++
	n := s.calls[key]
	s.mu.Unlock()
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", method, session)
	r := rand.New(rand.NewPCG(s.Seed, h.Sum64()+n))
	at := r.Float64()
	for i, share := range []float64{s.Fail, s.Keep, s.Hang, s.Slow} {
		if at < share {
			return fails + fault(i), r.Uint64()
		}
		at -= share
	}
	return none, 0
}

// call makes a call, or lets it go wrong.
func (s *faulty) call(ctx context.Context, method, session string, do func() error) error {
	switch what, _ := s.next(method, session); what {
	case fails:
		return fmt.Errorf("%w: %s of %q", errFaulty, method, session)
	case keeps:
		if err := do(); err != nil {
			return err
		}
		return fmt.Errorf("%w: %s of %q", errFaulty, method, session)
	case hangs:
		<-ctx.Done()
		return ctx.Err()
	case slow:
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	return do()
}

// wait waits for the time of a slow call.
func (s *faulty) wait(ctx context.Context) error {
	select {
	case <-time.After(s.Delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sequence is call for a sequence, which fails after a few elements.
func sequence[T any](ctx context.Context, s *faulty, method, session string,
	all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		what, n := s.next(method, session)
		left := int(n % 4)
		var zero T
		if what == slow {
			if err := s.wait(ctx); err != nil {
				yield(zero, err)
				return
			}
		}
		bad := what == fails || what == keeps || what == hangs
		for v, err := range all {
			if bad && left == 0 {
				break
			}
			if left--; !yield(v, err) {
				return
			}
		}
		if what == hangs {
			<-ctx.Done()
			yield(zero, ctx.Err())
		} else if bad {
			yield(zero, fmt.Errorf("%w: %s of %q", errFaulty, method, session))
		}
	}
}

// with is call for a method that returns something else, too.
func with[T any](ctx context.Context, s *faulty, method, session string, do func() (T, error)) (T, error) {
	var v, zero T
	err := s.call(ctx, method, session, func() (err error) {
		v, err = do()
		return err
	})
	if err != nil {
		return zero, err
	}
	return v, nil
}

// Append implements [journal.Store], and so do the methods that follow.
func (s *faulty) Append(ctx context.Context, a journal.Append) error {
	return s.call(ctx, "Append", a.Session, func() error { return s.store.Append(ctx, a) })
}

func (s *faulty) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return sequence(ctx, s, "Read", session, s.store.Read(ctx, session, after))
}

func (s *faulty) Head(ctx context.Context, session string) (journal.Head, error) {
	return with(ctx, s, "Head", session, func() (journal.Head, error) { return s.store.Head(ctx, session) })
}

func (s *faulty) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return sequence(ctx, s, "Heads", "", s.store.Heads(ctx, f))
}

func (s *faulty) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	return with(ctx, s, "Lease", session, func() (journal.Lease, error) {
		return s.store.Lease(ctx, session, owner, ttl)
	})
}

func (s *faulty) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	return with(ctx, s, "Renew", l.Session, func() (journal.Lease, error) { return s.store.Renew(ctx, l, ttl) })
}

func (s *faulty) Release(ctx context.Context, l journal.Lease) error {
	return s.call(ctx, "Release", l.Session, func() error { return s.store.Release(ctx, l) })
}

func (s *faulty) Post(ctx context.Context, session string, it journal.Item) error {
	return s.call(ctx, "Post", session, func() error { return s.store.Post(ctx, session, it) })
}

func (s *faulty) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	return with(ctx, s, "Take", session, func() ([]journal.Item, error) { return s.store.Take(ctx, session, fence) })
}

func (s *faulty) Delete(ctx context.Context, session string, upTo uint64) error {
	return s.call(ctx, "Delete", session, func() error { return s.store.Delete(ctx, session, upTo) })
}

// faultyQueue is a faulty store that is a queue.
type faultyQueue struct {
	*faulty
	queue journal.Queue
}

// Due implements [journal.Queue], and so do the methods that follow.
func (s *faultyQueue) Due(ctx context.Context, c journal.Claim, take func(journal.Head) bool) (
	journal.Queued, error) {
	return with(ctx, s.faulty, "Due", "", func() (journal.Queued, error) { return s.queue.Due(ctx, c, take) })
}

func (s *faultyQueue) Claim(ctx context.Context, c journal.Claim, owner string, ttl time.Duration) (
	q journal.Queued, l journal.Lease, err error) {
	err = s.call(ctx, "Claim", "", func() (err error) {
		q, l, err = s.queue.Claim(ctx, c, owner, ttl)
		return err
	})
	if err != nil {
		return journal.Queued{}, journal.Lease{}, err
	}
	return q, l, nil
}

func (s *faultyQueue) Delay(ctx context.Context, l journal.Lease, until time.Time) error {
	return s.call(ctx, "Delay", "", func() error { return s.queue.Delay(ctx, l, until) })
}

func (s *faultyQueue) Depths(ctx context.Context) ([]journal.Depth, error) {
	return with(ctx, s.faulty, "Depths", "", func() ([]journal.Depth, error) { return s.queue.Depths(ctx) })
}
