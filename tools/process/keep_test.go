//go:build unix

package process_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// A long output is 1,000 lines, of which the model reads a part.
func long(word string) string { return strings.Repeat(strings.Repeat(word, 20)+"\n", 1000) }

// keeping returns a tool that keeps outputs in a folder, and what runs a call that writes a text.
func keeping(t *testing.T, cfg process.Config) (write func(text string) (tools.Outcome, string)) {
	t.Helper()
	cfg.Spec.MaxResult = 4 << 10
	b := open(t, cfg)
	return func(text string) (tools.Outcome, string) {
		t.Helper()
		at := filepath.Join(t.TempDir(), "text")
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
		out := b.call(t.Context(), fmt.Sprintf(`{"program":"show","args":[%q]}`, at))
		require.Equal(t, tools.OK, out.Status, said(out))
		head, _, _ := strings.Cut(said(out), "\n")
		_, name, _ := strings.Cut(head, "all of it is in the file ")
		return out, name
	}
}

// TestAnOutputThatIsCutIsKeptWhole: the model reads its name relative to the root.
func TestAnOutputThatIsCutIsKeptWhole(t *testing.T) {
	for _, below := range []bool{true, false} {
		cfg := config(t, program(t, "show"))
		cfg.Outputs = filepath.Join(t.TempDir(), "a", "b")
		if below {
			cfg.Outputs = filepath.Join(cfg.Root, ".out", "b")
		}
		write := keeping(t, cfg)
		out, name := write("short\n")
		require.Empty(t, name+out.Exit.File)
		require.NoDirExists(t, cfg.Outputs)

		out, name = write(long("ab"))
		require.Equal(t, cfg.Outputs, filepath.Dir(out.Exit.File))
		text, err := os.ReadFile(out.Exit.File)
		require.NoError(t, err)
		require.Equal(t, long("ab"), string(text))
		info, err := os.Stat(out.Exit.File)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		want := out.Exit.File
		if below {
			require.FileExists(t, filepath.Join(cfg.Outputs, ".gitignore"))
			want = ".out/b/" + filepath.Base(out.Exit.File)
		}
		require.Equal(t, want, name)
		again, _ := write(long("ab"))
		require.Equal(t, said(out), said(again), "the same call has the same result")
	}
}

func TestOnlyTheNewestOutputsAreKept(t *testing.T) {
	cfg := config(t, program(t, "show"))
	cfg.Outputs = t.TempDir()
	write := keeping(t, cfg)
	other := filepath.Join(cfg.Outputs, "notes.txt")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	now := time.Now()
	for n := range process.MaxKept {
		out, _ := write(long(fmt.Sprint(n, " ")))
		require.NoError(t, os.Chtimes(out.Exit.File, now, now.Add(time.Duration(n-100)*time.Hour)))
	}
	first, _ := write(long("0 ")) // it is the newest again
	write(long("new "))
	entries, err := os.ReadDir(cfg.Outputs)
	require.NoError(t, err)
	require.Len(t, entries, process.MaxKept+1)
	require.FileExists(t, other)
	require.FileExists(t, first.Exit.File)
}

func TestAnOutputIsKeptUpToALimit(t *testing.T) {
	cfg := config(t, program(t, "show"))
	cfg.Outputs = t.TempDir()
	line := strings.Repeat("0123456789abcdef", 256)[1:] + "\n"
	out, _ := keeping(t, cfg)(strings.Repeat(line, process.MaxWhole/len(line)+10))
	info, err := os.Stat(out.Exit.File)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(process.MaxWhole))
	require.Less(t, info.Size(), int64(process.MaxWhole+100))
	text, err := os.ReadFile(out.Exit.File)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(text), "\n[… 40960 bytes left out …]\n"))
}

// TestAProgramCannotLeadOutputsOutOfTheRoot: what can't be kept is cut as without a folder.
func TestAProgramCannotLeadOutputsOutOfTheRoot(t *testing.T) {
	cfg := config(t, program(t, "show"))
	cfg.Outputs = filepath.Join(cfg.Root, "out")
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, cfg.Outputs))
	out, name := keeping(t, cfg)(long("ab"))
	require.Empty(t, name+out.Exit.File)
	require.Contains(t, said(out), "is cut\n")
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestWhatIsKeptIsRedacted(t *testing.T) {
	cfg := config(t, program(t, "show"))
	cfg.Outputs = t.TempDir()
	cfg.Redact = func(text string) string { return strings.ReplaceAll(text, "secret", "[hidden]") }
	out, _ := keeping(t, cfg)(long("ab") + "a secret\n")
	text, err := os.ReadFile(out.Exit.File)
	require.NoError(t, err)
	require.Equal(t, long("ab")+"a [hidden]\n", string(text))
}

// Nothing would redact half of a secret.
func TestWhatIsKeptEndsWithALine(t *testing.T) {
	cfg := config(t, program(t, "show"))
	cfg.Outputs = t.TempDir()
	cfg.Redact = func(text string) string { return strings.ReplaceAll(text, "secret", "[hidden]") }
	write := keeping(t, cfg)
	kept := func(text string) string {
		out, _ := write(text)
		whole, err := os.ReadFile(out.Exit.File)
		require.NoError(t, err)
		return string(whole)
	}
	lines := strings.Repeat(strings.Repeat("x", 1022)+"\n", process.MaxWhole/1023)
	const last = "a secret\n"
	for half := 1; half < len("secret"); half++ {
		short := strings.Repeat("y", process.MaxWhole-len(lines)-len("a ")-1-half)
		text := kept(lines + short + "\n" + last)
		require.Equal(t, "\n[… 9 bytes left out …]\n", text[process.MaxWhole-len("a ")-half:], half)
	}
	require.Equal(t, fmt.Sprintf("\n[… %d bytes left out …]\n", process.MaxWhole+6),
		kept(strings.Repeat("z", process.MaxWhole-3)+last))
}

// TestTheOutputOfAProgramThatWasStoppedIsKept: the error has only a part of it.
func TestTheOutputOfAProgramThatWasStoppedIsKept(t *testing.T) {
	cfg := config(t, program(t, "hang"))
	cfg.Outputs, cfg.Spec.MaxResult = t.TempDir(), 4<<10
	at := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(at, []byte(long("ab")), 0o600))
	b := open(t, cfg)
	c, _ := b.admit(fmt.Sprintf(`{"program":"hang","args":[%q]}`, at))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.OnProgress = func(_ *tools.Call, r tools.ProgressReport) {
		if strings.Contains(r.Text, "the end") {
			cancel()
		}
	}
	out := tools.Execute(ctx, b.d, c, nil)
	require.Equal(t, tools.Canceled, out.Status)
	_, rest, _ := strings.Cut(said(out), "all of it is in the file ")
	name, _, _ := strings.Cut(rest, "; its output until then:\n")
	text, err := os.ReadFile(name)
	require.NoError(t, err, said(out))
	require.Equal(t, long("ab")+"the end\n", string(text))
}

func TestAFolderForOutputsIsOneOfItsOwn(t *testing.T) {
	cfg := config(t, program(t, "show"))
	for _, folder := range []string{"outputs", cfg.Root} {
		cfg.Outputs = folder
		_, err := tools.NewRegistry(process.Tool(cfg))
		require.ErrorContains(t, err, "Config.Outputs")
		require.ErrorContains(t, err, ".outputs")
	}
}
