package sim

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A port is the store as one process sees it. Each call takes some time before and after, in which
// other processes run and the process may die.
type port struct {
	*world
	p *process
}

var (
	errDead    = journal.Unusable("sim: the process is dead")
	errRefused = errors.New("sim: the store is out of order")
	errLost    = errors.New("sim: the answer was lost")
)

// nap lets a short time pass that is different for each call.
func (o port) nap(ctx context.Context, what, session string) error {
	o.p.stall()
	o.p.mu.Lock()
	key := what + session
	o.p.calls[key]++
	most, n := 2*time.Millisecond, o.p.calls[key]
	if o.p.faulty(opSlow) {
		most = o.p.faults[opSlow].length
	}
	o.p.mu.Unlock()
	t := time.NewTimer(1 + o.within(most, o.p.name, key, n))
	defer t.Stop()
	select {
	case <-o.p.died:
		return errDead
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	if o.p.dead() {
		return errDead
	}
	return nil
}

// enter is before a call of the store, and leave after it.
func (o port) enter(ctx context.Context, what, session string) error {
	if err := o.nap(ctx, what, session); err != nil {
		return err
	}
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	if o.p.faulty(opRefuse) {
		return errRefused
	}
	return nil
}

func (o port) leave(ctx context.Context, what, session string) error {
	if err := o.nap(ctx, what+" end", session); err != nil {
		return err
	}
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	if o.p.faulty(opLose) && o.draw(o.p.name, what, session, o.p.calls[what+" end"+session])%2 == 0 {
		return errLost
	}
	return nil
}

// write calls the store with a change. Errors of the store itself are final; after others it isn't
// known whether the change was made.
func (o port) write(ctx context.Context, what, session string, in input, change func() (output, error)) error {
	begin, alive := o.tick(), !o.p.dead()
	if alive && in.append != nil && o.p.sprung(beforeAppend) {
		o.late(in, true)
		return errDead
	}
	if err := o.enter(ctx, what, session); err != nil {
		if errors.Is(err, errDead) {
			o.late(in, alive)
		}
		return err
	}
	o.mu.Lock()
	out, err := change()
	o.mu.Unlock()
	if in.append != nil && err == nil {
		o.p.sprung(afterAppend)
	}
	lost := o.leave(context.WithoutCancel(ctx), what, session)
	out.unknown = lost != nil
	o.record(session, o.p.number, begin, in, out)
	if lost != nil {
		return lost
	}
	return err
}

// late tries an append of a process that has died, later. If another process has taken the session,
// it must be refused. Else it may be kept if it was begun before the process died.
func (o port) late(in input, alive bool) {
	if in.append == nil {
		return
	}
	a := *in.append
	wait := o.within(2*lease, o.p.name, "late", a.Session, a.After)
	o.p.sim.work.Go(func() {
		time.Sleep(wait)
		begin := o.tick()
		o.mu.Lock()
		head, _ := o.store.Head(context.Background(), a.Session)
		stale := head.Fence != a.Fence || head.Owner == "" && a.Fence > 0
		if !alive && !stale {
			o.mu.Unlock()
			return
		}
		err := o.append(a)
		if err == nil && stale {
			o.failLocked("a late append of %s to %s with fence %d was kept, although %q has fence %d", o.p.name, a.Session,
				a.Fence, head.Owner, head.Fence)
		} else if err == nil {
			o.note("%s: a late append to %s was kept", o.p.name, a.Session)
			o.newest(a.Session, false).driven = false // nobody drives it
		}
		o.mu.Unlock()
		o.record(a.Session, o.p.number, begin, in, output{err: err})
	})
}

func (o port) Append(ctx context.Context, a journal.Append) error {
	own := a
	own.Records = append([]journal.Record(nil), a.Records...)
	own.Taken = append([]string(nil), a.Taken...)
	return o.write(ctx, "append", a.Session, input{kind: "append", append: &own}, func() (output, error) {
		err := o.append(own)
		return output{err: err}, err
	})
}

func (o port) Lease(ctx context.Context, session, owner string, ttl time.Duration) (l journal.Lease, err error) {
	err = o.write(ctx, "lease", session, input{kind: "lease", owner: owner}, func() (output, error) {
		var err error
		l, err = o.store.Lease(ctx, session, owner, ttl)
		return output{err: err, lease: l, at: time.Now()}, err
	})
	return o.p.lease(l), err
}

func (o port) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (renewed journal.Lease, err error) {
	err = o.write(ctx, "renew", l.Session, input{kind: "renew", fence: l.Fence}, func() (output, error) {
		var err error
		renewed, err = o.store.Renew(ctx, l, ttl)
		return output{err: err, lease: renewed, at: time.Now()}, err
	})
	return o.p.lease(renewed), err
}

func (o port) Release(ctx context.Context, l journal.Lease) error {
	return o.write(ctx, "release", l.Session, input{kind: "release", fence: l.Fence}, func() (output, error) {
		err := o.store.Release(ctx, l)
		return output{err: err}, err
	})
}

func (o port) Post(ctx context.Context, session string, it journal.Item) error {
	in := input{kind: "post", ids: append([]string{it.ID}, it.Closes...)}
	return o.write(ctx, "post", session, in, func() (output, error) {
		err := o.store.Post(ctx, session, it)
		if err == nil {
			o.note("%s: posted %s to %s: %s", o.p.name, it.Kind, session, it.Data)
		}
		return output{err: err}, err
	})
}

func (o port) Take(ctx context.Context, session string, fence uint64) (items []journal.Item, err error) {
	err = o.write(ctx, "take", session, input{kind: "take", fence: fence}, func() (output, error) {
		var err error
		items, err = o.store.Take(ctx, session, fence)
		out := output{err: err}
		for _, it := range items {
			out.ids = append(out.ids, it.ID)
		}
		return out, err
	})
	return items, err
}

func (o port) Delete(ctx context.Context, session string, upTo uint64) error {
	return o.write(ctx, "delete", session, input{kind: "delete", after: upTo}, func() (output, error) {
		err := o.store.Delete(ctx, session, upTo)
		if err == nil && upTo == journal.All {
			o.note("%s: deleted %s", o.p.name, session)
			delete(o.fences, session)
			o.newest(session, false).driven = false
		}
		return output{err: err}, err
	})
}

func (o port) Head(ctx context.Context, session string) (h journal.Head, err error) {
	if err := o.enter(ctx, "head", session); err != nil {
		return h, err
	}
	h, err = o.store.Head(ctx, session)
	return o.p.head(h), err
}

func (o port) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := o.enter(ctx, "read", session); err != nil {
			yield(journal.Record{}, err)
			return
		}
		o.store.Read(ctx, session, after)(yield)
	}
}

func (o port) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if err := o.enter(ctx, "heads", ""); err != nil {
			yield(journal.Head{}, err)
			return
		}
		for h, err := range o.store.Heads(ctx, f) {
			if !yield(o.p.head(h), err) {
				return
			}
		}
	}
}
