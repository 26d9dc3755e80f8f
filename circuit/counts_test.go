package circuit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

func TestABreakerUsedAloneOpensAtEveryErrorThatDoesntExcuseItsResource(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		opens bool
	}{
		{"unknown", errors.New("x"), true},
		{"a status as text", errors.New("status 503"), true},
		{"wrapped", fmt.Errorf("call: %w", errors.New("x")), true},
		{"a program that failed", &exec.ExitError{ProcessState: &os.ProcessState{}}, true},
		{"a database's connection", fmt.Errorf("query: %w", driver.ErrBadConn), true},
		{"a device that fails", &fs.PathError{Op: "read", Path: "f", Err: syscall.EIO}, true},
		{"too many open files", &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}, true},
		{"time is up", context.DeadlineExceeded, true},
		{"transient", fault.New(fault.Transient, "x"), true},
		{"degraded", fault.New(fault.Degraded, "x"), true},
		{"a class out of range", fault.New(fault.Class(99), "x"), true},
		{"canceled", fmt.Errorf("call: %w", context.Canceled), false},
		{"preempted", fault.New(fault.None, "x"), false},
		{"rate limited", fault.New(fault.RateLimited, "x"), false},
		{"for a person", fault.NewFixable("x", "y", errors.New("z")), false},
		{"called permanent", fault.Wrap(fault.Permanent, errors.New("x")), false},
		{"invalid", fault.New(fault.Invalid, "x"), false},
		{"no such file", &fs.PathError{Op: "open", Path: "f", Err: syscall.ENOENT}, false},
		{"a file that exists", &fs.PathError{Op: "open", Path: "f", Err: syscall.EEXIST}, false},
		{"no rows", fmt.Errorf("page: %w", sql.ErrNoRows), false},
		{"denied", fs.ErrPermission, false},
		{"unsupported", errors.ErrUnsupported, false},
	} {
		want := map[bool]circuit.State{false: circuit.Closed, true: circuit.Open}[c.opens]
		for _, cfg := range []circuit.Config{
			{}, circuit.LLM(), circuit.File(), circuit.Network(), circuit.Subprocess(), circuit.Tool(),
		} {
			b := circuit.New("b", cfg)
			for range circuit.Normal(cfg).Consecutive {
				require.Equal(t, c.err, fails(t.Context(), b, c.err))
			}
			require.Equal(t, want, b.State(), c.name)
		}
		var zero circuit.Breaker
		for range 3 {
			allow(t, &zero).Done(c.err)
		}
		require.Equal(t, want, zero.State(), c.name)
	}
}

func TestCountsDecidesAboutEveryErrorButCancellations(t *testing.T) {
	notMine := errors.New("not mine")
	var asked []error
	b := circuit.New("b", circuit.Config{Consecutive: 2, Counts: func(err error) bool {
		asked = append(asked, err)
		return !errors.Is(err, notMine)
	}})
	denied := fault.New(fault.Denied, "x")
	results := []error{nil, notMine, context.Canceled, fault.New(fault.None, "preempted"), notMine, denied}
	for _, err := range results {
		allow(t, b).Done(err)
	}
	require.Equal(t, []error{notMine, notMine, denied}, asked)
	require.Equal(t, 1, b.Snapshot().InARow)
	allow(t, b).Done(denied)
	require.Equal(t, circuit.Open, b.State())
	require.Same(t, denied, refused(t, b).Cause)

	set := circuit.NewSet(circuit.Config{Consecutive: 1, Counts: func(error) bool { return false }})
	allow(t, set.Get("key")).Done(fault.New(fault.Degraded, "x"))
	require.Equal(t, circuit.Closed, set.Get("key").State())
}

func TestCountsIsCalledWithoutTheLock(t *testing.T) {
	var b *circuit.Breaker
	b = circuit.New("b",
		circuit.Config{Consecutive: 1, Counts: func(error) bool { return b.State() == circuit.Closed }})
	allow(t, b).Done(errDown)
	require.Equal(t, circuit.Open, b.State())
}
