package journaltest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// bad is a correct store with some of its methods replaced.
type bad struct {
	journal.Store
	onAppend  func(context.Context, journal.Append) error
	onRead    func(context.Context, string, uint64) iter.Seq2[journal.Record, error]
	onHead    func(context.Context, string) (journal.Head, error)
	onHeads   func(context.Context, journal.Filter) iter.Seq2[journal.Head, error]
	onLease   func(context.Context, string, string, time.Duration) (journal.Lease, error)
	onRelease func(context.Context, journal.Lease) error
	onPost    func(context.Context, string, journal.Item) error
	onTake    func(context.Context, string, uint64) ([]journal.Item, error)
	onDelete  func(context.Context, string, uint64) error
}

func newBad(s journal.Store) *bad {
	return &bad{s, s.Append, s.Read, s.Head, s.Heads, s.Lease, s.Release, s.Post, s.Take, s.Delete}
}

func (b *bad) Append(ctx context.Context, a journal.Append) error { return b.onAppend(ctx, a) }
func (b *bad) Read(ctx context.Context, s string, after uint64) iter.Seq2[journal.Record, error] {
	return b.onRead(ctx, s, after)
}
func (b *bad) Head(ctx context.Context, s string) (journal.Head, error) { return b.onHead(ctx, s) }
func (b *bad) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return b.onHeads(ctx, f)
}
func (b *bad) Lease(ctx context.Context, s, owner string, ttl time.Duration) (journal.Lease, error) {
	return b.onLease(ctx, s, owner, ttl)
}
func (b *bad) Release(ctx context.Context, l journal.Lease) error { return b.onRelease(ctx, l) }
func (b *bad) Post(ctx context.Context, s string, it journal.Item) error {
	return b.onPost(ctx, s, it)
}
func (b *bad) Take(ctx context.Context, s string, fence uint64) ([]journal.Item, error) {
	return b.onTake(ctx, s, fence)
}
func (b *bad) Delete(ctx context.Context, s string, upTo uint64) error {
	return b.onDelete(ctx, s, upTo)
}

// eachRecord changes the records on their way in.
func eachRecord(change func(*journal.Record)) func(*bad, journal.Store) {
	return func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			a.Records = slices.Clone(a.Records)
			for i := range a.Records {
				change(&a.Records[i])
			}
			return s.Append(ctx, a)
		}
	}
}

type defect struct {
	name   string
	caught string // the check that is there for it
	spoil  func(b *bad, s journal.Store)
}

func (d defect) wrap(s journal.Store) journal.Store {
	b := newBad(s)
	d.spoil(b, s)
	return b
}

var defects = []defect{
	{"stores an append again", "the same append again succeeds and adds nothing", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			if h, err := s.Head(ctx, a.Session); err == nil && len(a.Records) > 0 && a.After < h.Seq {
				a.After = h.Seq
			}
			return s.Append(ctx, a)
		}
	}},
	{"stores a quiet append in any case", "a quiet append is stored only if nothing is in the inbox",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				a.Quiet = false
				return s.Append(ctx, a)
			}
		}},
	{"refuses a retry", "the same append again succeeds and adds nothing", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			if h, err := s.Head(ctx, a.Session); err == nil && a.After < h.Seq {
				return &journal.ConflictError{Session: a.Session, After: a.After, HaveSeq: h.Seq}
			}
			return s.Append(ctx, a)
		}
	}},
	{"takes any append to an existing number for a retry", "an append that differs in anything is not the same",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if h, err := s.Head(ctx, a.Session); err == nil && a.After+uint64(len(a.Records)) <= h.Seq {
					return nil
				}
				return s.Append(ctx, a)
			}
		}},
	{"keeps the records of the caller", "the store doesn't keep the slices that it is passed",
		func(b *bad, s journal.Store) {
			kept := make(map[string][]journal.Record)
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				kept[a.Session] = a.Records
				return s.Append(ctx, a)
			}
			b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
				return func(yield func(journal.Record, error) bool) {
					for i, r := range kept[session] {
						r.Seq = uint64(i) + 1
						if r.Seq > after && !yield(r, nil) {
							return
						}
					}
				}
			}
		}},
	{"appends at the end, wherever that is", "an append after a number that isn't the last conflicts",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if h, err := s.Head(ctx, a.Session); err == nil {
					a.After = h.Seq
				}
				return s.Append(ctx, a)
			}
		}},
	{"allows a stale fence", "a lease that has ended passes to another owner", allowStale},
	{"allows a stale fence after a release", "a stale fence conflicts even if its records are in the log", allowStale},
	{"allows no fence on a leased session", "a leased session takes no append without its fence", allowStale},
	{"checks the records before the fence", "a stale fence conflicts even if its records are in the log",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if inLog(ctx, s, a) {
					return nil
				}
				return s.Append(ctx, a)
			}
		}},
	{"ignores the fence of the records in the log", "the same records with another fence are another append",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if h, err := s.Head(ctx, a.Session); err == nil && h.Fence == a.Fence && inLog(ctx, s, a) {
					return nil
				}
				return s.Append(ctx, a)
			}
		}},
	{"changes the head after the records", "head, records and inbox change together, and readers see no gap", func(b *bad, s journal.Store) {
		var half atomic.Bool
		looked := make(chan struct{}, 1)
		b.onHead = func(ctx context.Context, session string) (journal.Head, error) {
			between := half.Load()
			h, err := s.Head(ctx, session)
			if between {
				select {
				case looked <- struct{}{}:
				default:
				}
			}
			return h, err
		}
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			if a.Head == nil || len(a.Records) == 0 || a.After > 0 {
				return s.Append(ctx, a)
			}
			head := journal.Append{Session: a.Session, After: uint64(len(a.Records)), Fence: a.Fence, Head: a.Head}
			a.Head = nil
			if err := s.Append(ctx, a); err != nil {
				return err
			}
			half.Store(true) // and now another goroutine reads the head
			select {
			case <-looked:
			case <-ctx.Done():
			}
			half.Store(false)
			return s.Append(ctx, head)
		}
	}},
	{"changes the head of a refused append", "a refused append changes nothing", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			err := s.Append(ctx, a)
			if h, headErr := s.Head(ctx, a.Session); err != nil && headErr == nil && a.Head != nil {
				_ = s.Append(ctx, journal.Append{Session: a.Session, After: h.Seq, Fence: h.Fence, Head: a.Head})
			}
			return err
		}
	}},
	{"appends record by record", "a refused append changes nothing", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			for len(a.Records) > 1 {
				one := a
				one.Records, one.Head, one.Taken = a.Records[:1], nil, nil
				if err := s.Append(ctx, one); err != nil {
					return err
				}
				a.After, a.Records = a.After+1, a.Records[1:]
			}
			return s.Append(ctx, a)
		}
	}},
	{"drops what was taken", "an append removes the items that it took", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			if a.Taken = nil; len(a.Records) == 0 && a.Head == nil {
				return nil
			}
			return s.Append(ctx, a)
		}
	}},
	{"removes what a refused append took", "an append that is refused removes nothing", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			err := s.Append(ctx, a)
			if h, headErr := s.Head(ctx, a.Session); err != nil && headErr == nil && len(a.Taken) > 0 {
				_ = s.Append(ctx, journal.Append{Session: a.Session, After: h.Seq, Fence: h.Fence, Taken: a.Taken})
			}
			return err
		}
	}},
	{"removes an item when it is taken", "taking removes nothing", func(b *bad, s journal.Store) {
		b.onTake = func(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
			items, err := s.Take(ctx, session, fence)
			if h, headErr := s.Head(ctx, session); headErr == nil {
				for _, it := range items {
					_ = s.Append(ctx,
						journal.Append{Session: session, After: h.Seq, Fence: fence, Taken: []string{it.ID}})
				}
			}
			return items, err
		}
	}},
	{"returns items in another order", "items are taken in the order in which they were posted",
		func(b *bad, s journal.Store) {
			b.onTake = func(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
				items, err := s.Take(ctx, session, fence)
				slices.SortFunc(items, func(a, b journal.Item) int { return strings.Compare(a.ID, b.ID) })
				return items, err
			}
		}},
	{"returns items by their times", "items are taken in the order in which they were posted",
		func(b *bad, s journal.Store) {
			b.onTake = func(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
				items, err := s.Take(ctx, session, fence)
				slices.SortStableFunc(items, func(a, b journal.Item) int { return a.Time.Compare(b.Time) })
				return items, err
			}
		}},
	{"lets anybody take", "posting needs no lease, taking does", func(b *bad, s journal.Store) {
		b.onTake = func(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
			if h, err := s.Head(ctx, session); err == nil {
				fence = h.Fence
			}
			return s.Take(ctx, session, fence)
		}
	}},
	{"returns no error for a second post", "an id is posted once", func(b *bad, s journal.Store) {
		b.onPost = func(ctx context.Context, session string, it journal.Item) error {
			var posted *journal.PostedError
			if err := s.Post(ctx, session, it); !errors.As(err, &posted) {
				return err
			}
			return nil
		}
	}},
	{"ignores what an item closes", "an item closes further ids", func(b *bad, s journal.Store) {
		b.onPost = func(ctx context.Context, session string, it journal.Item) error {
			it.Closes = nil
			return s.Post(ctx, session, it)
		}
	}},
	{"returns what an item closes", "an item closes further ids", func(b *bad, s journal.Store) {
		b.onTake = func(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
			items, err := s.Take(ctx, session, fence)
			for i := range items {
				items[i].Closes = []string{"b", "c"}
			}
			return items, err
		}
	}},
	{"closes ids that were used before", "an item isn't posted if an id that it closes was used before",
		func(b *bad, s journal.Store) {
			b.onPost = func(ctx context.Context, session string, it journal.Item) error {
				ids := it.Closes
				it.Closes = nil
				if err := s.Post(ctx, session, it); err != nil {
					return err
				}
				return closeIDs(ctx, s, session, ids)
			}
		}},
	{"closes the ids of a refused item", "an item isn't posted if an id that it closes was used before",
		func(b *bad, s journal.Store) {
			b.onPost = func(ctx context.Context, session string, it journal.Item) error {
				err := s.Post(ctx, session, it)
				var posted *journal.PostedError
				if errors.As(err, &posted) {
					ids := slices.DeleteFunc(slices.Clone(it.Closes), func(id string) bool { return id == posted.ID })
					return errors.Join(err, closeIDs(ctx, s, session, ids))
				}
				return err
			}
		}},
	{"lets two items close the same ids when they race", "of racing items that close the same ids exactly one is kept",
		func(b *bad, s journal.Store) {
			b.onPost = func(ctx context.Context, session string, it journal.Item) error {
				it.Closes = nil
				return s.Post(ctx, session, it)
			}
		}},
	{"yields records in another order", "records are read in the order in which they were appended",
		func(b *bad, s journal.Store) {
			b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
				return func(yield func(journal.Record, error) bool) {
					var all []journal.Record
					for r, err := range s.Read(ctx, session, after) {
						if err != nil {
							yield(r, err)
							return
						}
						all = append(all, r)
					}
					for _, r := range slices.Backward(all) {
						if !yield(r, nil) {
							return
						}
					}
				}
			}
		}},
	{"reads from the number itself", "reading starts after the number asked for", func(b *bad, s journal.Store) {
		b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
			return s.Read(ctx, session, max(after, 1)-1)
		}
	}},
	{"reads after a number of 64 bits as one of 63", "reading starts after the number asked for",
		func(b *bad, s journal.Store) {
			b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
				return s.Read(ctx, session, uint64(max(int64(after), 0)))
			}
		}},
	{"prunes up to a number of 64 bits as to one of 63", "numbering goes on after all records are pruned",
		func(b *bad, s journal.Store) {
			b.onDelete = func(ctx context.Context, session string, upTo uint64) error {
				if upTo != journal.All {
					upTo = uint64(max(int64(upTo), 0))
				}
				return s.Delete(ctx, session, upTo)
			}
		}},
	{"skips what was pruned", "pruned records are gone, and reading them says so", func(b *bad, s journal.Store) {
		b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
			if h, err := s.Head(ctx, session); err == nil {
				after = max(after, h.Pruned)
			}
			return s.Read(ctx, session, after)
		}
	}},
	{"reads on when the context has ended", "reading stops when the context ends", func(b *bad, s journal.Store) {
		b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
			return s.Read(context.WithoutCancel(ctx), session, after)
		}
	}},
	{"appends with an ended context", "nothing is done with a context that has ended", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			return s.Append(context.WithoutCancel(ctx), a)
		}
	}},
	{"has one connection, and keeps it during a read", "the store may be used while it is read",
		func(b *bad, s journal.Store) {
			connection := make(chan struct{}, 1)
			b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
				return func(yield func(journal.Record, error) bool) {
					select {
					case connection <- struct{}{}:
						defer func() { <-connection }()
						s.Read(ctx, session, after)(yield)
					case <-ctx.Done():
						yield(journal.Record{}, ctx.Err())
					}
				}
			}
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				select {
				case connection <- struct{}{}:
					defer func() { <-connection }()
					return s.Append(ctx, a)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}},
	{"keeps times to the microsecond", "records are returned unchanged", eachRecord(func(r *journal.Record) {
		r.Time = r.Time.Truncate(time.Microsecond)
	})},
	{"keeps data as text", "data of any bytes are returned unchanged", eachRecord(func(r *journal.Record) {
		r.Data = bytes.ToValidUTF8(r.Data, []byte("\uFFFD"))
	})},
	{"folds the case of names", "sessions with similar names are separate", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			a.Session = strings.ToLower(a.Session)
			return s.Append(ctx, a)
		}
		b.onRead = func(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
			return s.Read(ctx, strings.ToLower(session), after)
		}
	}},
	{"uses a prefix as a pattern", "heads are listed by the filter", func(b *bad, s journal.Store) {
		b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
			f.Prefix = strings.TrimRight(f.Prefix, "%")
			return s.Heads(ctx, f)
		}
	}},
	{"lists other kinds among the sessions of agents", "sessions are found by one label, and by kind",
		func(b *bad, s journal.Store) {
			b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
				f.NoKind = false
				return s.Heads(ctx, f)
			}
		}},
	{"lists children among the sessions without a parent", "sessions are found by their parent, or because they have none",
		func(b *bad, s journal.Store) {
			b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
				f.NoParent = false
				return s.Heads(ctx, f)
			}
		}},
	{"keeps the first parent", "the parent follows changes", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			if h, err := s.Head(ctx, a.Session); err == nil && h.Parent != "" && a.Head != nil {
				head := *a.Head
				head.Parent, a.Head = h.Parent, &head
			}
			return s.Append(ctx, a)
		}
	}},
	{"lists from the oldest on", "sessions are listed from the newest on, in pages", func(b *bad, s journal.Store) {
		b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
			f.Newest = false
			return s.Heads(ctx, f)
		}
	}},
	{"takes what is never due for due", "sessions are found by when they are due", func(b *bad, s journal.Store) {
		b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
			f.Open, f.Due = !f.Due.IsZero(), time.Time{}
			return s.Heads(ctx, f)
		}
	}},
	{"keeps the first labels", "labels, kind and title follow changes", func(b *bad, s journal.Store) {
		b.onAppend = func(ctx context.Context, a journal.Append) error {
			if h, err := s.Head(ctx, a.Session); err == nil && len(h.Labels) > 0 && a.Head != nil {
				head := *a.Head
				head.Labels, a.Head = h.Labels, &head
			}
			return s.Append(ctx, a)
		}
	}},
	{"keeps the host's first part of a head", "a head update replaces all that the host sets",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if h, err := s.Head(ctx, a.Session); err == nil && len(h.Info) > 0 && a.Head != nil {
					head := *a.Head
					head.Info, a.Head = h.Info, &head
				}
				return s.Append(ctx, a)
			}
		}},
	{"shows pages that overlap", "heads are listed by the filter", func(b *bad, s journal.Store) {
		b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
			if f.After != "" {
				f.After = f.After[:len(f.After)-1] + string(f.After[len(f.After)-1]-1)
			}
			return s.Heads(ctx, f)
		}
	}},
	{"lists the first 200 names", "many sessions are listed once each, by name, by time or by when they are due",
		func(b *bad, s journal.Store) {
			b.onHeads = func(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
				if !f.Newest && f.Due.IsZero() && f.Limit <= 0 {
					f.Limit = 200
				}
				return s.Heads(ctx, f)
			}
		}},
	{"gives away a lease that hasn't ended", "a lease excludes other owners until it ends",
		func(b *bad, s journal.Store) {
			b.onLease = func(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
				if h, err := s.Head(ctx, session); err == nil {
					_ = s.Release(ctx, journal.Lease{Session: session, Owner: h.Owner, Fence: h.Fence})
				}
				return s.Lease(ctx, session, owner, ttl)
			}
		}},
	{"keeps the fence of an owner that leases again", "an owner that leases again gets a new fence",
		func(b *bad, s journal.Store) {
			b.onLease = func(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
				if h, err := s.Head(ctx, session); err == nil && h.Owner == owner {
					return s.Renew(ctx, journal.Lease{Session: session, Owner: owner, Fence: h.Fence}, ttl)
				}
				return s.Lease(ctx, session, owner, ttl)
			}
		}},
	{"releases whatever lease there is", "releasing a lost lease leaves the new one alone",
		func(b *bad, s journal.Store) {
			b.onRelease = func(ctx context.Context, l journal.Lease) error {
				if h, err := s.Head(ctx, l.Session); err == nil {
					l.Fence = h.Fence
				}
				return s.Release(ctx, l)
			}
		}},
	{"never releases", "a released lease is free at once, and can't append", func(b *bad, s journal.Store) {
		b.onRelease = func(context.Context, journal.Lease) error { return nil }
	}},
	{"never ends a lease", "a lease that has ended passes to another owner", func(b *bad, s journal.Store) {
		b.onLease = func(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
			return s.Lease(ctx, session, owner, journal.MaxTTL)
		}
	}},
	{"deletes only the records", "a session deleted whole leaves nothing behind", func(b *bad, s journal.Store) {
		b.onDelete = func(ctx context.Context, session string, upTo uint64) error {
			return s.Delete(ctx, session, min(upTo, journal.All-1))
		}
	}},
	{"takes the fence of a deleted session for none", "a writer can't bring back a session that was deleted",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if _, err := s.Head(ctx, a.Session); errors.Is(err, journal.ErrNoSession) {
					a.Fence = 0
				}
				return s.Append(ctx, a)
			}
		}},
	{"deletes nothing", "pruning goes forward only", func(b *bad, s journal.Store) {
		b.onDelete = func(context.Context, string, uint64) error { return nil }
	}},
	{"counts fences by session, and forgets them with it", "fences always rise, even if the session is deleted",
		func(b *bad, s journal.Store) {
			fresh := s
			b.onLease = func(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
				return fresh.Lease(ctx, session, owner, ttl)
			}
			b.onAppend = func(ctx context.Context, a journal.Append) error { return fresh.Append(ctx, a) }
			b.onDelete = func(context.Context, string, uint64) error {
				fresh = &journal.MapStore{}
				return nil
			}
		}},
	{"loses a write now and then when writers race", "of racing writers exactly one wins each number",
		func(b *bad, s journal.Store) {
			b.onAppend = func(ctx context.Context, a journal.Append) error {
				if a.After == 17 {
					return nil
				}
				return s.Append(ctx, a)
			}
		}},
}

// allowStale appends with the fence that the session has.
func allowStale(b *bad, s journal.Store) {
	b.onAppend = func(ctx context.Context, a journal.Append) error {
		if h, err := s.Head(ctx, a.Session); err == nil {
			a.Fence = h.Fence
		}
		return s.Append(ctx, a)
	}
}

// closeIDs closes ids in a session without a lease.
func closeIDs(ctx context.Context, s journal.Store, session string, ids []string) error {
	h, err := s.Head(ctx, session)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.Append(ctx, journal.Append{Session: session, After: h.Seq, Taken: ids})
}

// inLog reports whether the records of a are in the log where a would put them, with any fence.
func inLog(ctx context.Context, s journal.Store, a journal.Append) bool {
	i := 0
	for r, err := range s.Read(ctx, a.Session, a.After) {
		if err != nil || i == len(a.Records) || !r.Equal(a.Records[i]) {
			break
		}
		i++
	}
	return i > 0 && i == len(a.Records)
}
