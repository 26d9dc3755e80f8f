//go:build unix

package process

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAProcessThatCantBeEndedIsReported(t *testing.T) {
	sleep, err := Lookup("sleep")
	require.NoError(t, err)
	var lost *child
	cmd := Command{Path: sleep.Path, Args: []string{"3600"}, Root: t.TempDir(), gone: 10 * time.Millisecond,
		Timeout: time.Millisecond, Extend: -1, Grace: Grace{Interrupt: -1, Terminate: -1, Late: 10 * time.Millisecond}}
	res, err := run(t.Context(), cmd, func(c *child, _ Signal) error {
		lost = c
		return nil // no signal reaches it
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, res.Lost && res.TimedOut)
	require.Equal(t, -1, res.ExitCode)
	require.NoError(t, lost.signal(Kill))
	<-lost.reaped // the goroutine that waited for it ends with it
}

func TestNoSignalReachesOurselvesOrAllProcesses(t *testing.T) {
	self, err := Lookup("true")
	require.NoError(t, err)
	c, err := startChild(self.Path, []string{"true"}, attrForTest(), false)
	require.NoError(t, err)
	<-c.exited
	pid := c.process.Pid
	for _, bad := range []int{-1, 0, 1} {
		c.process.Pid = bad
		require.Error(t, c.signal(Interrupt))
	}
	c.process.Pid = pid
	close(c.reap)
	<-c.reaped
}

func attrForTest() *os.ProcAttr { return &os.ProcAttr{Env: []string{}, Sys: ownGroup()} }
