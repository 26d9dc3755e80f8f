package journaltest

import (
	"context"
	"sync/atomic"

	"github.com/pawlkit/pawl/agent/journal"
)

// Dying returns the store as a process has it that dies after so many appends: each later append
// fails with an error that is [journal.ErrUnusable], and leases aren't given back, so they last
// until they end by themselves. Another process is another agent with the store itself. A test that
// counts up from 0 until a run needs no more appends lets a process die at each of them.
//
// It has the methods of [journal.Store] alone, and is safe for concurrent use.
func Dying(store journal.Store, appends int) journal.Store {
	d := &dying{Store: store}
	d.left.Store(int64(appends))
	return d
}

// errDead is the error of a store that has died.
var errDead = journal.Unusable("journaltest: the process is gone")

type dying struct {
	journal.Store
	left atomic.Int64
}

// Append appends, as long as the process lives.
func (d *dying) Append(ctx context.Context, a journal.Append) error {
	if d.left.Add(-1) < 0 {
		return errDead
	}
	return d.Store.Append(ctx, a)
}

// Release gives a lease back, as long as the process lives.
func (d *dying) Release(ctx context.Context, l journal.Lease) error {
	if d.left.Load() < 0 {
		return errDead
	}
	return d.Store.Release(ctx, l)
}
