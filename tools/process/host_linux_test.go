package process_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProcessDoesntOutliveItsHost(t *testing.T) {
	cmd := command(t, "host", t.TempDir())
	l := watchLife(t, &cmd)
	exe, err := os.StartProcess(cmd.Path, append([]string{cmd.Path}, cmd.Args...), &os.ProcAttr{Env: cmd.Env})
	require.NoError(t, err)
	l.born(1)
	require.NoError(t, exe.Kill())
	_, err = exe.Wait()
	require.NoError(t, err)
	l.gone()
}
