package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// What was delivered is in a log of its own, of which the newest record counts. Who has its lease
// delivers. It is of a kind of its own, so that agents leave it alone, and no input can have its
// name: that begins as those of subagents' sessions do.
const (
	deliverSession = machine.ChildPrefix + "live/deliver"
	deliverKind    = "live"
	deliverKeep    = 100 // records, before older ones are deleted

	// outliveTime is how long the log may be written to when the hub is being closed.
	outliveTime = 5 * time.Second
)

// A delivered is how far the deliveries have come.
type delivered struct {
	Cursor string        `json:"cursor"` // of journal.Changes
	Held   []heldSession `json:"held,omitempty"`
}

// A heldSession is a session of which the host has refused something, while others go on.
type heldSession struct {
	Session string `json:"session"`
	Created int64  `json:"created"` // another session of that name was created at another time
	After   uint64 `json:"after"`   // what is left is from here
	UpTo    uint64 `json:"upTo"`    // to what the changes were seen

	tries int
	next  time.Time
}

// deliveries are the log, open for writing.
type deliveries struct {
	store   journal.Store
	lease   journal.Lease
	renewed time.Time
	seq     uint64 // of the last record
	pruned  uint64
	state   delivered
}

// openDeliveries takes the lease and reads how far the deliveries have come. Those of a store that
// has had none begin after a cursor, or now. The error is a *[journal.HeldError] if another process
// delivers.
func openDeliveries(ctx context.Context, store journal.Store, owner, begin string) (d *deliveries, err error) {
	d = &deliveries{store: store, renewed: time.Now()}
	if d.lease, err = store.Lease(ctx, deliverSession, owner, deliverLease); err != nil {
		return nil, err
	}
	if err := d.read(ctx, begin); err != nil {
		d.close(ctx)
		return nil, err
	}
	return d, nil
}

// close releases the lease. If that fails, it ends by itself.
func (d *deliveries) close(ctx context.Context) {
	ctx, cancel := outliving(ctx)
	defer cancel()
	_ = d.store.Release(ctx, d.lease)
}

// read reads how far the deliveries have come, or stores that they begin.
func (d *deliveries) read(ctx context.Context, begin string) error {
	head, err := d.store.Head(ctx, deliverSession)
	if err != nil {
		return err
	}
	if head.Seq > 0 && head.Kind != deliverKind {
		return fmt.Errorf("live: the journal has something else under the name %q, under which it is stored what was "+
			"delivered; delete that session, and deliveries begin", deliverSession)
	}
	d.seq, d.pruned = head.Seq, head.Pruned
	if d.seq == 0 {
		if d.state.Cursor = begin; begin == "" {
			if _, d.state.Cursor, err = journal.Changes(ctx, d.store, journal.Newest); err != nil {
				return err
			}
		}
		return d.save(ctx)
	}
	for rec, err := range d.store.Read(ctx, deliverSession, d.seq-1) {
		if err == nil {
			err = json.Unmarshal(rec.Data, &d.state)
		}
		if err != nil {
			return fmt.Errorf("live: reading what was delivered: %w", err)
		}
	}
	return nil
}

// changes returns the next changes. A cursor that the store doesn't know, because the sessions were
// moved to another kind of store, begins at the start.
func (d *deliveries) changes(ctx context.Context) ([]journal.Change, string, error) {
	changes, next, err := journal.Changes(ctx, d.store, d.state.Cursor)
	if errors.As(err, new(*journal.InvalidError)) {
		d.state.Cursor = ""
		return journal.Changes(ctx, d.store, "")
	}
	return changes, next, err
}

// renew renews the lease if that is necessary.
func (d *deliveries) renew(ctx context.Context) (err error) {
	now := time.Now()
	if now.Sub(d.renewed) < renewAfter {
		return nil
	}
	if d.lease, err = d.store.Renew(ctx, d.lease, deliverLease); err == nil {
		d.renewed = now
	}
	return err
}

// save stores how far the deliveries have come, also for some time after ctx has ended.
func (d *deliveries) save(ctx context.Context) error {
	data, err := json.Marshal(&d.state)
	if err != nil {
		return err
	}
	ctx, cancel := outliving(ctx)
	defer cancel()
	a := journal.Append{Session: deliverSession, After: d.seq, Fence: d.lease.Fence,
		Records: []journal.Record{{Time: time.Now(), Kind: "delivered", V: 1, Data: data}}}
	if d.seq == 0 {
		a.Head = &journal.HeadUpdate{Kind: deliverKind}
	}
	if err := d.store.Append(ctx, a); err != nil {
		return err
	}
	d.seq++
	if d.seq-d.pruned > deliverKeep {
		if err := d.store.Delete(ctx, deliverSession, d.seq-1); err != nil {
			return err
		}
		d.pruned = d.seq - 1
	}
	return nil
}

// outliving returns a context that ends some time after ctx does.
func outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.NewTimer(outliveTime)
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-own.Done():
		}
	})
	return own, func() { stop(); cancel() }
}

// holds returns what is known of a session that is held back, or nil.
func (d *deliveries) holds(session string) *heldSession {
	i := slices.IndexFunc(d.state.Held, func(h heldSession) bool { return h.Session == session })
	if i < 0 {
		return nil
	}
	return &d.state.Held[i]
}

// due returns the sessions that are tried again now.
func (d *deliveries) due(now time.Time) (sessions []string) {
	for i := range d.state.Held {
		if !now.Before(d.state.Held[i].next) {
			sessions = append(sessions, d.state.Held[i].Session)
		}
	}
	return sessions
}

// release forgets that a session is held back.
func (d *deliveries) release(session string) {
	d.state.Held = slices.DeleteFunc(d.state.Held, func(h heldSession) bool { return h.Session == session })
}
