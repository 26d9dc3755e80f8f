package process_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/process"
)

// jobs returns a command of a shell with job control, which puts each of its jobs into a group of
// its own. The script has the path of this binary in $0, and that of a pipe in $1.
func jobs(t *testing.T, script string) (process.Command, *life) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	cmd := command(t, "job")
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	cmd.Args = []string{"-c", script, cmd.Path, pipe}
	cmd.Path = lookup(t, "bash")
	return cmd, watchLife(t, &cmd)
}

func TestJobsOfAShellAreEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  string
		members int
		cancel  bool
	}{
		"the shell ends by itself": {`set -m; "$0" </dev/null >"$1" 2>&1 & read x <"$1"`, 1, false},
		"the context ends":         {`set -m; "$0" & "$0" & "$0" & wait`, 3, true},
		"a job in the foreground":  {`set -m; "$0"; true`, 1, true},
		"a shell in a shell":       {`set -m; bash -c 'set -m; "$0" & "$0"; true' "$0" & "$0" & wait`, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				cmd, l := jobs(t, c.script)
				ctx, cancel := context.WithCancel(t.Context())
				wait := begin(ctx, cmd)
				l.born(c.members)
				if c.cancel {
					cancel()
				}
				res, err := wait()
				cancel()
				require.Equal(t, c.cancel, err != nil)
				require.False(t, res.Lost)
				l.gone()
			}
		})
	}
}

func TestJobsGetTheFirstSignalToo(t *testing.T) {
	t.Parallel()
	cmd, l := jobs(t, `set -m; "$0" & wait; wait`)
	cmd.Env[0] = childMode + "=polite"
	cmd.Grace = process.Grace{Interrupt: time.Hour, Late: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := begin(ctx, cmd)
	l.born(1)
	cancel()
	res, err := wait()
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"INT"}, res.Sent)
	require.Contains(t, res.Output, "cleaning up\n")
	l.gone()
}

// TestAShellThatIgnoresInterruptsIsEndedByTheNextSignal: what a program ignores, those that it
// starts ignore too.
func TestAShellThatIgnoresInterruptsIsEndedByTheNextSignal(t *testing.T) {
	t.Parallel()
	cmd, l := jobs(t, `trap '' INT; "$0"; true`)
	cmd.Env[0] = childMode + "=stopped"
	cmd.Grace.Terminate = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := begin(ctx, cmd)
	l.born(1)
	cancel()
	res, err := wait()
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"INT", "TERM"}, res.Sent)
	l.gone()
}
