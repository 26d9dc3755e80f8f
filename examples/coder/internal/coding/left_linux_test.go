package coding_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestAStartEndsWhatDeadProcessesLeftInItsFolderAlone(t *testing.T) {
	dir, db := project(t)
	gone := exec.Command("true")
	require.NoError(t, gone.Run())
	left := func(starter int, folder string) *exec.Cmd {
		c := exec.Command("sleep", "60")
		c.Env = append(os.Environ(), fmt.Sprintf("PAWL_CODER=%d %s", starter, folder))
		require.NoError(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill() })
		return c
	}
	dead := gone.Process.Pid
	ours, others, used := left(dead, dir), left(dead, dir+"-2"), left(os.Getpid(), dir)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script()})
	require.Error(t, ours.Wait())
	require.Equal(t, []string{fmt.Sprintf("Ended what programs had left behind: process %d.", ours.Process.Pid)}, c.Notes)
	for _, c := range []*exec.Cmd{others, used} {
		require.NoError(t, c.Process.Kill(), "it has ended already")
		require.Error(t, c.Wait())
	}
}
