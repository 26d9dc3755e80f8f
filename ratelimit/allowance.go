package ratelimit

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// What an [AllowanceConfig] has at most, and what it has if nothing is said.
const (
	maxAllowance    = 10_000           // takes of a window and open takes
	maxAllowanceKey = 512              // bytes of a key
	defaultOpen     = time.Hour        // AllowanceConfig.MaxOpen
	defaultKeys     = 100_000          // AllowanceConfig.MaxKeys
	shortestWindow  = time.Second      // AllowanceWindow.Per
	longestWindow   = 366 * day        // AllowanceWindow.Per
	releaseDeadline = 10 * time.Second // of a store
	day             = 24 * time.Hour
)

var (
	// ErrAllowanceKey is returned by [Allowance.Take] and [Allowance.Status] for a key of more than
	// 512 bytes. Its class is fault.Invalid.
	ErrAllowanceKey = fault.New(fault.Invalid, "ratelimit: the key of an allowance has more than 512 bytes")

	// errAllowanceFull is returned by [Allowance.Take] when the store in memory has its most keys,
	// and each of them has an open take. Its class is RateLimited.
	errAllowanceFull = fault.New(fault.RateLimited,
		"ratelimit: every key in the store of allowances has an open take: raise AllowanceConfig.MaxKeys")
)

// An AllowanceConfig has the limits of an [Allowance], which apply to each key. The zero value
// limits nothing.
type AllowanceConfig struct {
	// Windows are limits on the takes in any stretch of time, for example 20 in every minute and
	// 200 in every hour.
	Windows []AllowanceWindow
	// PerDay is how many takes a calendar day in Location may have. 0 or less: any number.
	PerDay int
	// Location is the time zone of PerDay. A day has 23 or 25 hours when clocks change there. Nil:
	// UTC.
	Location *time.Location
	// Concurrent is how many takes may be open, which means not released. 0 or less: any number. At
	// most 10,000.
	Concurrent int
	// MaxOpen is how long a take is open at most, so that those of a process that has died don't
	// count forever. It should be longer than any run. 0 or less: 1 h.
	MaxOpen time.Duration

	// Store keeps what was taken. Nil: a store in memory, for one process.
	Store AllowanceStore
	// MaxKeys is how many keys the store in memory has at most. If it is full, the key that was
	// used least recently is dropped, but none with an open take. 0 or less: 100,000. It has no
	// effect on a Store.
	MaxKeys int
}

// An AllowanceWindow limits takes in a sliding window: in any stretch of the length Per there are
// at most Max.
type AllowanceWindow struct {
	Max int           // from 1 to 10,000, to which other figures are raised or lowered
	Per time.Duration // from 1 s to 366 days, to which other lengths are raised or lowered
}

// An Allowance limits what each of many keys may start. A key is usually a user, and what is taken
// is a run. It never waits: [Allowance.Take] succeeds or says when to try again. It is safe for
// concurrent use.
//
// The limits are exact: takes are counted one by one, and in a shared store across processes.
// Memory for a key is 8 bytes for each take within the longest window, and 50 for each open take.
//
// The clock is the store's. If it goes backwards, the time of a key's last take counts until the
// clock has passed it: no limit allows more.
type Allowance struct {
	rules allowanceRules
	store AllowanceStore
}

// NewAllowance returns an Allowance with the limits of cfg, whose slices it copies.
func NewAllowance(cfg AllowanceConfig) *Allowance {
	a := &Allowance{rules: newAllowanceRules(cfg), store: cfg.Store}
	if a.store == nil {
		a.store = NewAllowanceMemory(cfg.MaxKeys)
	}
	return a
}

// Take takes one from the allowance of key, or returns an *[AllowanceError] that says which limit
// refuses and when to try again; then nothing was taken from any limit. Other errors are those of
// the store and of ctx, [ErrAllowanceKey], and one if the store in memory is full.
//
// A take counts for windows and days whatever comes of it. For AllowanceConfig.Concurrent it counts
// until release is called, which isn't nil if err is. Calling release again does nothing. It uses
// the values of ctx, but not its end, and gives a store 10 s. If a store fails, the take stays open
// until release is called again or AllowanceConfig.MaxOpen has passed.
func (a *Allowance) Take(ctx context.Context, key string) (release func(), err error) {
	id := rand.Text()
	var refused *AllowanceError
	err = a.update(ctx, key, func(s AllowanceState, now time.Time) (AllowanceState, error) {
		s, refused = a.rules.take(s, id, now)
		if refused != nil {
			return s, refused
		}
		return s, nil
	})
	if refused != nil && errors.Is(err, refused) {
		refused.Key = key
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	return func() { a.release(context.WithoutCancel(ctx), key, id) }, nil
}

func (a *Allowance) release(ctx context.Context, key, id string) {
	if a.rules.concurrent == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseDeadline)
	defer cancel()
	// The error is one of the store: Take says what follows.
	_ = a.update(ctx, key, func(s AllowanceState, _ time.Time) (AllowanceState, error) {
		return a.rules.release(s, id)
	})
}

// Status returns how the limits of key stand, and takes nothing.
func (a *Allowance) Status(ctx context.Context, key string) (AllowanceStatus, error) {
	var status AllowanceStatus
	err := a.update(ctx, key, func(s AllowanceState, now time.Time) (AllowanceState, error) {
		status = a.rules.status(s, now)
		return s, errUnchanged
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return nil, err
	}
	return status, nil
}

// errUnchanged makes a store keep what it has.
var errUnchanged = errors.New("ratelimit: the state of an allowance stays as it is")

func (a *Allowance) update(ctx context.Context, key string, change AllowanceChange) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if len(key) > maxAllowanceKey {
		return ErrAllowanceKey
	}
	return a.store.Update(ctx, key, change)
}
