package roletest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/roletest"
)

func TestARolesErrorEndsItsProcess(t *testing.T) {
	for role, want := range map[string]string{"fail": "it failed\n",
		"no such role": "roletest: unknown role \"no such role\"\n"} {
		_, err := roletest.Command(t.Context(), role).Output()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, 1, exit.ExitCode())
		require.Equal(t, want, string(exit.Stderr))
	}
}

func TestAllLinesOfAProcessAreRead(t *testing.T) {
	p := roletest.Start(t, "greet", "Ann")
	require.Equal(t, "Hello, Ann.", p.Line())
	require.Empty(t, p.End(t))
}

func TestTheLastLineOfAKilledProcessIsRead(t *testing.T) {
	p := roletest.Start(t, "count")
	for n := range 100 {
		require.Equal(t, strconv.Itoa(n+1), p.Line())
	}
	require.Equal(t, "200", p.Kill(t), "the last line, and not what came of the next")
}

func TestProcessesContinueWhenAllAreReady(t *testing.T) {
	path := filepath.Join(t.TempDir(), "there")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	a, b := roletest.Start(t, "meet", path), roletest.Start(t, "meet", path, "and", "more")
	roletest.Together(t, a, b)
	require.Equal(t, 4, roletest.Sum(t, a, b))
}

func TestNobodyCantReadAFileOfItsOwner(t *testing.T) {
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		t.Skip("this process isn't root's, so that it stays who it is")
	}
	dir, err := os.MkdirTemp("", "pawl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	for mode, may := range map[os.FileMode]bool{0o600: false, 0o644: true} {
		path := filepath.Join(dir, mode.String())
		require.NoError(t, os.WriteFile(path, nil, mode))
		cmd := roletest.Command(t.Context(), "look", path)
		cmd.Dir = dir
		roletest.AsNobody(t, cmd)
		said, err := cmd.CombinedOutput()
		require.Equal(t, may, err == nil, "%v: %s", mode, said)
	}
}

func TestNarrowLimitsTheSizeOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("takes limits as Unix has them")
	}
	path := filepath.Join(t.TempDir(), "file")
	p := roletest.Start(t, "write", path)
	require.Equal(t, "10000", p.Line())
	require.NoError(t, p.Wait())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 30_000, info.Size())
}
