package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pawlkit/pawl/agent/journal"
)

// together runs do n times at once, waits, and ends the check with the first error.
func (f *fixture) together(n int, do func(i int) error) {
	f.t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		f.t.Fatalf("%v", err)
	}
}

// appendAt appends a record of writer w to whatever is the end, and returns its number. When
// another was faster it tries again.
func (f *fixture) appendAt(session string, after uint64, w, n int) (uint64, error) {
	r := rec(n)
	r.V = w
	for {
		err := f.store.Append(f.ctx, journal.Append{Session: session, After: after, Records: []journal.Record{r}})
		if err == nil {
			return after + 1, nil
		}
		conflict, ok := errors.AsType[*journal.ConflictError](err)
		if !ok || conflict.HaveSeq <= after {
			return 0, fmt.Errorf("append after %d: %w", after, err)
		}
		after = conflict.HaveSeq
	}
}

// whileWriting writes, and has two readers read until it is done and once more. read gets whether
// that is the last time.
func (f *fixture) whileWriting(write func() error, read func(last bool) error) {
	f.t.Helper()
	var done atomic.Bool
	f.together(3, func(i int) error {
		if i == 0 {
			defer done.Store(true)
			return write()
		}
		for last := false; !last; {
			last = done.Load()
			if err := read(last); err != nil {
				return err
			}
		}
		return nil
	})
}

// oneWins runs do eight times at once, and checks that only one isn't told that another was first.
// It returns which.
func (f *fixture) oneWins(do func(i int) error) int {
	f.t.Helper()
	var winners, winner atomic.Int32
	f.together(8, func(i int) error {
		err := do(i)
		_, held := errors.AsType[*journal.HeldError](err)
		if _, posted := errors.AsType[*journal.PostedError](err); held || posted {
			return nil
		}
		winners.Add(1)
		winner.Store(int32(i))
		return err
	})
	f.equal("winners", winners.Load(), int32(1))
	return int(winner.Load())
}

var raceChecks = []check{
	{"of racing writers exactly one wins each number", func(f *fixture) {
		const writers, each = 8, 20
		won := make([][]uint64, writers)
		f.together(writers, func(w int) error {
			at := uint64(0)
			for n := range each {
				var err error
				if at, err = f.appendAt("s", at, w, n); err != nil {
					return err
				}
				won[w] = append(won[w], at)
			}
			return nil
		})
		log := f.read("s", 0)
		f.equal("records", len(log), writers*each)
		next := make([]int, writers)
		for i, r := range log {
			f.equal("number", r.Seq, uint64(i+1))
			if r.V < 0 || r.V >= writers || next[r.V] >= each {
				f.t.Fatalf("record %d belongs to nobody: %+v", r.Seq, r)
			}
			f.equal(fmt.Sprintf("number that writer %d was told", r.V), won[r.V][next[r.V]], r.Seq)
			next[r.V]++
		}
	}},
	{"writers of different sessions are independent", func(f *fixture) {
		const sessions, each = 40, 5
		name := func(i int) string { return fmt.Sprintf("s-%02d", i) }
		f.together(sessions, func(i int) error {
			for n := range each {
				if at, err := f.appendAt(name(i), uint64(n), i, n); err != nil || at != uint64(n+1) {
					return fmt.Errorf("session %d: record %d went to %d: %w", i, n, at, err)
				}
			}
			return nil
		})
		f.equal("number of sessions", len(f.names(journal.Filter{})), sessions)
		for i := range sessions {
			for n, r := range f.read(name(i), 0) {
				f.equal("writer", r.V, i)
				f.equal("data", string(r.Data), string(rec(n).Data))
			}
			f.equal("last number", f.head(name(i)).Seq, uint64(each))
		}
	}},
	{"head, records and inbox change together, and readers see no gap", func(f *fixture) {
		const steps, batch = 60, 3
		status := func(n int) string { return fmt.Sprintf("step %d", n) }
		f.append(journal.Append{Session: "s", Head: &journal.HeadUpdate{Status: status(0)}})
		for n := range steps {
			f.post("s", item(fmt.Sprint(n)))
		}
		f.whileWriting(func() error {
			for n := range steps {
				err := f.store.Append(f.ctx, journal.Append{
					Session: "s", After: uint64(batch * n), Records: recs(batch*n+1, batch*n+batch),
					Head: &journal.HeadUpdate{Status: status(n + 1)}, Taken: []string{fmt.Sprint(n)},
				})
				if err != nil {
					return err
				}
			}
			return nil
		}, func(last bool) error {
			h, err := f.store.Head(f.ctx, "s")
			if err != nil {
				return err
			}
			if n := int(h.Seq) / batch; h.Status != status(n) || h.Inbox != steps-n || h.Seq%batch != 0 {
				return fmt.Errorf("at record %d the status is %q, with %d items in the inbox", h.Seq, h.Status, h.Inbox)
			}
			n := 0
			for r, err := range f.store.Read(f.ctx, "s", 0) {
				if err != nil {
					return err
				}
				if n++; r.Seq != uint64(n) || !r.Equal(rec(n)) {
					return fmt.Errorf("record %d of a reading is %+v", n, r)
				}
			}
			if n < int(h.Seq) || last && n != steps*batch {
				return fmt.Errorf("the head shows %d records, there are %d, and %d at the end", h.Seq, n, steps*batch)
			}
			return nil
		})
	}},
	{"of racing owners exactly one gets the lease", func(f *fixture) {
		f.oneWins(func(i int) error {
			l, err := f.store.Lease(f.ctx, "s", fmt.Sprintf("w-%d", i), hour)
			if err != nil {
				return err
			}
			return f.store.Append(f.ctx, journal.Append{Session: "s", Fence: l.Fence, Records: recs(i, i)})
		})
		f.equal("records", len(f.read("s", 0)), 1)
	}},
	{"of racing posts of one id exactly one is kept", func(f *fixture) {
		f.do("fill s 1", "")
		winner := f.oneWins(func(i int) error {
			it := item("a")
			it.Data = []byte{byte(i)}
			return f.store.Post(f.ctx, "s", it)
		})
		items := f.take("s", 0)
		f.equal("items", len(items), 1)
		f.equal("item that was accepted", int(items[0].Data[0]), winner)
	}},
	{"of racing items that close the same ids exactly one is kept", func(f *fixture) {
		f.do("fill s 1", "")
		f.oneWins(func(i int) error {
			ids := []string{"q-1", "q-2", "q-3"}
			return f.store.Post(f.ctx, "s", closing(fmt.Sprintf("d-%d", i), append(ids[i%3:], ids[:i%3]...)...))
		})
		f.equal("items", len(f.take("s", 0)), 1)
	}},
	{"posts during takes are not lost", func(f *fixture) {
		const posters, each = 4, 15
		f.do("fill s 1", "")
		var posting atomic.Int32
		posting.Store(posters)
		seen := make(map[string]int)
		f.together(posters+1, func(i int) error {
			if i < posters {
				defer posting.Add(-1)
				for n := range each {
					if err := f.store.Post(f.ctx, "s", item(fmt.Sprintf("%d-%d", i, n))); err != nil {
						return err
					}
				}
				return nil
			}
			for at, last := uint64(1), false; !last; {
				last = posting.Load() == 0
				items, err := f.store.Take(f.ctx, "s", 0)
				if err != nil {
					return err
				}
				var ids []string
				for _, it := range items {
					seen[it.ID]++
					ids = append(ids, it.ID)
				}
				if len(ids) == 0 {
					continue
				}
				err = f.store.Append(f.ctx,
					journal.Append{Session: "s", After: at, Records: recs(int(at), int(at)), Taken: ids})
				if err != nil {
					return err
				}
				at++
			}
			return nil
		})
		f.equal("ids seen", len(seen), posters*each)
		for id, n := range seen {
			f.equal("times that "+id+" was seen", n, 1)
		}
		f.equal("items", f.take("s", 0), nil)
	}},
}
