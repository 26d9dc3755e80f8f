package process

import (
	"context"
	"runtime"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// SlotWait is how long a call of a [Tool] waits for a free slot before it gives up.
const SlotWait = 30 * time.Second

// Slots bound how many processes run at a time. They are given out in the order in which they were asked for. Slots are
// safe for concurrent use, and may be shared by any number of tools.
type Slots struct{ taken chan struct{} }

// NewSlots returns n slots; less than 1 means the default, two for each CPU.
func NewSlots(n int) *Slots {
	if n < 1 {
		n = 2 * runtime.NumCPU()
	}
	return &Slots{taken: make(chan struct{}, n)}
}

// Acquire waits for a free slot. It gives up with an error of class RateLimited after wait (0: [SlotWait]; less than 0: at
// once), or with the cause of ctx. The slot is given back with [Slots.Release].
func (s *Slots) Acquire(ctx context.Context, wait time.Duration) error {
	select {
	case s.taken <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(orDefault(wait, SlotWait))
	defer timer.Stop()
	select {
	case s.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &StopError{Program: "a program that waits for a free slot", Cause: context.Cause(ctx)}
	case <-timer.C:
		return fault.Errorf(fault.RateLimited, "process: all %d slots for processes stayed taken; try again later", cap(s.taken))
	}
}

// Release gives a slot back, once for each that was acquired. Once too often does nothing.
func (s *Slots) Release() {
	select {
	case <-s.taken:
	default:
	}
}

// Free returns how many slots are free.
func (s *Slots) Free() int { return cap(s.taken) - len(s.taken) }
