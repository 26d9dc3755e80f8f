package process

import (
	"context"
	"runtime"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// slotWait is how long a call of a [Tool] waits for a free slot.
const slotWait = 30 * time.Second

// Slots limit the number of processes that run at a time. Waiting callers get them in the order of
// their calls. Slots are safe for concurrent use, and any number of tools may share them.
type Slots struct{ taken chan struct{} }

// NewSlots returns n slots; less than 1 means the default, two for each CPU.
func NewSlots(n int) *Slots {
	if n < 1 {
		n = 2 * runtime.NumCPU()
	}
	return &Slots{taken: make(chan struct{}, n)}
}

// Acquire waits for a free slot. It fails with an error of class RateLimited after wait (0:
// 30 s; negative: at once), or with the cause of ctx. The caller must release the slot with
// [Slots.Release].
func (s *Slots) Acquire(ctx context.Context, wait time.Duration) error {
	select {
	case s.taken <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(orDefault(wait, slotWait))
	defer timer.Stop()
	select {
	case s.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &StopError{Program: "a program that waits for a free slot", Cause: context.Cause(ctx)}
	case <-timer.C:
		return fault.Errorf(fault.RateLimited, "process: all %d slots for processes are in use; try again later",
			cap(s.taken))
	}
}

// Release releases a slot. Call it once for each Acquire; an extra call does nothing.
func (s *Slots) Release() {
	select {
	case <-s.taken:
	default:
	}
}

// Free returns the number of free slots.
func (s *Slots) Free() int { return cap(s.taken) - len(s.taken) }
