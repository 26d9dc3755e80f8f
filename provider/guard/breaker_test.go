package guard_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

func TestOnlyTransientAndDegradedErrorsOpenTheBreakerOfAGuard(t *testing.T) {
	unknown := errors.New("status 503")
	counts := circuit.Config{Consecutive: 1, Counts: func(err error) bool { return errors.Is(err, unknown) }}
	for name, c := range map[string]struct {
		err   error
		cfg   circuit.Config
		opens bool
	}{
		"transient":            {err: fault.New(fault.Transient, "x"), opens: true},
		"degraded":             {err: fault.New(fault.Degraded, "x"), opens: true},
		"a connection":         {err: driver.ErrBadConn, opens: true},
		"a device":             {err: os.NewSyscallError("read", syscall.EIO), opens: true},
		"too many open files":  {err: os.NewSyscallError("socket", syscall.EMFILE), opens: true},
		"unknown":              {err: unknown},
		"a program":            {err: &exec.ExitError{ProcessState: &os.ProcessState{}}},
		"rate limited":         {err: fault.New(fault.RateLimited, "x")},
		"permanent":            {err: fault.New(fault.Permanent, "x")},
		"what its Counts says": {err: unknown, cfg: counts, opens: true},
		"what it doesn't":      {err: fault.New(fault.Degraded, "x"), cfg: counts},
	} {
		t.Run(name, func(t *testing.T) {
			if c.cfg.Consecutive == 0 {
				c.cfg.Consecutive = 1
			}
			want := map[bool]circuit.State{false: circuit.Closed, true: circuit.Open}[c.opens]
			o := option{circuit: c.cfg, guard: guard.Config{Retry: single()}}

			r := newRig(t, o, script{fail(c.err)})
			require.ErrorIs(t, watch(r.Stream(t.Context(), ask)).err, c.err)
			require.Equal(t, want, r.breaker.State())
			r.settled()

			r = newRig(t, o)
			require.ErrorIs(t, r.Do(t.Context(), embed, func(context.Context) (provider.Usage, error) {
				return provider.Usage{}, c.err
			}), c.err)
			require.Equal(t, want, r.breaker.State())
			r.settled()
		})
	}
}
