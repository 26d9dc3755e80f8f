package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestOptionsThatDontFitEndTheProgramWithTwo(t *testing.T) {
	for line, want := range map[string]string{
		"fix it":               `"fix" is no flag; a request is given with -p`,
		"-mode yolo":           "plan, ask, edits, auto",
		"-p x -web":            "-p goes with neither",
		"-p x -acp":            "-p goes with neither",
		"-c -session s-1":      "-c and -session",
		"-p=":                  "the request of -p is empty",
		"-acp -c":              "the editor chooses",
		"-acp -mode auto":      "leave -c, -session, -mode",
		"-acp -db x":           "and -db out",
		"-addr 127.0.0.1:1":    "-addr needs -web",
		"-pace -1s":            "-pace is negative",
		"-nothing":             "not defined",
		"-jail=maybe":          "give -jail or -jail=must",
		"-dir /nowhere -p x":   "-dir",
		"-model nobody -p x":   "PAWL_MODEL",
		"-rules /nowhere -p x": "/nowhere",
		"-mcp /nowhere -p x":   "/nowhere",
		"-db /dev/null/a -p x": "-db",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(line), func(string) string { return "" }, strings.NewReader(""), &out,
			&errs)
		require.Equal(t, 2, code, line)
		require.Contains(t, errs.String(), want, line)
		require.Empty(t, out.String(), line)
	}
	var errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-h"}, os.Getenv, strings.NewReader(""), &errs, &errs))
}

func TestAFileOfRulesThatIsWrongIsNamed(t *testing.T) {
	at := filepath.Join(t.TempDir(), "rules.json")
	for _, text := range []string{"", "{", `{"rule":[]}`, `{"hard":[{"effect":"maybe","tool":"run"}]}`} {
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		p := newProgram(t, provider.Provider(nil))
		code, _, errs := p.run("-rules", at, "-p", "x")
		require.Equal(t, 2, code, text)
		require.Contains(t, errs, at)
	}
	require.NoError(t, os.WriteFile(at, []byte(`{"hard":[{"effect":"deny","tool":"*","why":"Not today."}]}`), 0o644))
	code, out, errs := newProgram(t, say(write("a.go"), "Done.")).run("-rules", at, "-mode", "auto", "-p", "x")
	require.Zero(t, code, errs)
	require.Contains(t, out, "Not today.", "they take the place of those that are built in")
}

// Without -dir, the program unpacks its own little repository; conversations are beside it.
func TestWithoutAFolderTheProgramBringsOne(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"-pace", "0", "-p", "Where is Lines defined?"},
		func(string) string { return "" }, strings.NewReader(""), &out, &errs)
	require.Zero(t, code, errs.String())
	require.Contains(t, out.String(), "wrap.go")
	require.Contains(t, errs.String(), "stand-in")
	found, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "coder-*", "conversations", "runs.db"))
	require.NoError(t, err)
	require.Len(t, found, 1)
}

func TestConversationsOfAFolderAreInTheSettingsOfTheUser(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	dir := filepath.Join(t.TempDir(), "my project")
	require.NoError(t, os.Mkdir(dir, 0o755))
	a, err := place(dir)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(a, home), a)
	require.Contains(t, a, "my project-")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	b, err := place(link)
	require.NoError(t, err)
	require.Equal(t, a, b, "by whatever name")
	_, err = place(filepath.Join(dir, "nothing"))
	require.ErrorContains(t, err, "-dir")
	t.Setenv("HOME", "")
	_, err = place(dir)
	require.ErrorContains(t, err, "-db")
}
