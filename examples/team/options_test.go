package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command runs the program with a stand-in, and returns its exit code and what it printed.
func command(t *testing.T, args ...string) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	code = run(t.Context(), append([]string{"-model", "standin", "-pace", "0"}, args...), os.Getenv,
		strings.NewReader(""), &out, &out)
	return code, out.String()
}

func TestYesBuildsNothingThatWasNotAskedFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "programs")
	code, printed := command(t, "-dir", dir, "-yes", "-t", "make me a sandwich")
	require.Zero(t, code, printed)
	require.Contains(t, printed, "Then I build nothing")
	require.NoDirExists(t, filepath.Join(dir, "cmd"))
}

func TestAPlaceThatCannotBeUsedIsNamed(t *testing.T) {
	at := t.TempDir()
	file := filepath.Join(at, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	link := filepath.Join(at, "link")
	require.NoError(t, os.Mkdir(link, 0o755))
	require.NoError(t, os.Symlink(at, filepath.Join(link, ".agents")))
	for _, one := range [][]string{
		{file, filepath.Join(at, "x.db"), file}, // -dir, -db, and what the error says
		{filepath.Join(at, "a"), filepath.Join(file, "x.db"), "-db"},
		{filepath.Join(at, "b"), filepath.Join(at, "b", "x.db"), "choose another place with -db"},
		{link, filepath.Join(at, "y.db"), link + " can't be written"},
	} {
		code, printed := command(t, "-dir", one[0], "-db", one[1], "-t", "hi")
		require.NotZero(t, code)
		require.Contains(t, printed, one[2])
	}
}

func TestARequestIsNotTakenWhileAQuestionWaits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "programs")
	first, printed := command(t, "-dir", dir, "-t", "Build a slug package")
	require.Contains(t, printed, "How long may a slug get?")
	again, printed := command(t, "-dir", dir, "-t", "Turn CSV into JSON")
	require.Equal(t, first, again, printed)
	require.Contains(t, printed, "The request wasn't taken")
	require.Contains(t, printed, "How long may a slug get?")
}
