package prompt_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

func TestAnEditTakesEffectAtTheNextComposition(t *testing.T) {
	var log diary
	fsys := edit("a.md", "one\n{{> b.md}}", "b.md", "two", "m.md", "mode", "r.md", "{{x}}")
	s := load(t, fsys, prompt.Config{
		Core: []string{"a.md"}, Modes: []prompt.Mode{{Name: "m", Sections: []string{"m.md"}}},
		Runtime:     []string{"r.md"},
		RuntimeVars: []string{"x"}, Reload: true, Logger: log.logger(),
	})
	first := s.Version()
	require.Equal(t, "one\ntwo\n\nmode", compose(t, s, "m"))
	require.Equal(t, first, s.Version())
	require.Empty(t, log.lines())

	fsys.set("b.md", "2")
	require.Equal(t, first, s.Version(), "nobody has composed yet")
	require.Equal(t, "one\n2\n\nmode", compose(t, s, "m"))
	require.NotEqual(t, first, s.Version())
	lines := log.lines()
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], s.Version())

	fsys.set("a.md", "1\n{{> new.md}}")
	fsys.set("new.md", "new")
	require.Equal(t, "1\nnew", s.Core())
	fsys.set("m.md", "M")
	require.Equal(t, "1\nnew\n\nM", compose(t, s, "m"))
	fsys.set("r.md", "-{{x}}-")
	text, err := s.Runtime(map[string]string{"x": "y"})
	require.NoError(t, err)
	require.Equal(t, "-y-", text)
	fsys.set("new.md", "newer")
	require.Equal(t, "1\nnewer", s.Core())
	require.Len(t, log.lines(), 4)
}

func TestAnInvalidEditKeepsTheLastValidText(t *testing.T) {
	var log diary
	fsys := edit("a.md", "good", "b.md", "b")
	s := load(t, fsys, prompt.Config{Core: []string{"a.md", "b.md"}, Reload: true, Logger: log.logger()})
	version := s.Version()
	for _, c := range []struct{ text, problem string }{
		{"one {{two", "isn't closed"}, {"one {{two}}", "has no value"}, {"", "is empty"}, {"\xff", "UTF-8"},
		{"{{> a.md}}", "includes itself"}, {"{{> gone.md}}", "no such file"},
	} {
		fsys.set("a.md", c.text)
		for range 3 {
			require.Equal(t, "good\n\nb", s.Core())
		}
		require.Equal(t, version, s.Version())
		lines := log.lines()
		require.Len(t, lines, 1, "once for each edit")
		require.Contains(t, lines[0], "level=ERROR")
		require.Contains(t, lines[0], c.problem)
		require.Contains(t, lines[0], version)
	}
	fsys.remove("a.md")
	require.Equal(t, "good\n\nb", s.Core())
	require.Len(t, log.lines(), 1)
	fsys.set("a.md", "")
	require.Equal(t, "good\n\nb", s.Core())
	require.Len(t, log.lines(), 1, "an empty file is another mistake than none")

	fsys.set("b.md", "B") // while another file is invalid, a valid edit isn't used either
	require.Equal(t, "good\n\nb", s.Core())
	require.Empty(t, log.lines(), "the mistake is the same")

	fsys.set("a.md", "better")
	require.Equal(t, "better\n\nB", s.Core())
	require.Contains(t, log.lines()[0], "level=INFO")

	fsys.set("a.md", "{{")
	require.Equal(t, "better\n\nB", s.Core())
	fsys.set("a.md", "better") // the invalid edit is reverted
	require.Equal(t, "better\n\nB", s.Core())
	require.Len(t, log.lines(), 2)
}

func TestWithoutReloadAFileIsReadOnce(t *testing.T) {
	fsys := edit("a.md", "one {{> b.md}}", "b.md", "b")
	var opened atomic.Int32
	fsys.opened = func(string) { opened.Add(1) }
	s := load(t, fsys, prompt.Config{Core: []string{"a.md"}, Runtime: []string{"b.md"}})
	reads := opened.Load()
	require.LessOrEqual(t, reads, int32(4), "each is asked for its size, and read")
	fsys.set("a.md", "two")
	require.Equal(t, "one b", compose(t, s, ""))
	_, err := s.Runtime(nil)
	require.NoError(t, err)
	require.Equal(t, reads, opened.Load())
}

// TestCompositionsNeverSeeHalfAnEdit composes in several goroutines while files are replaced.
func TestCompositionsNeverSeeHalfAnEdit(t *testing.T) {
	const edits, readers = 60, 4
	dir := t.TempDir()
	replace := func(name, text string) {
		next := filepath.Join(dir, name+".next")
		require.NoError(t, os.WriteFile(next, []byte(text), 0o600))
		require.NoError(t, os.Rename(next, filepath.Join(dir, name)))
	}
	replace("core.md", "n0")
	replace("mode.md", "mode")
	replace("run.md", "{{x}}")
	var log diary
	s := load(t, os.DirFS(dir), prompt.Config{
		Core: []string{"core.md"}, Modes: []prompt.Mode{{Name: "m", Sections: []string{"mode.md", "core.md"}}},
		Runtime: []string{"run.md"}, RuntimeVars: []string{"x"}, Reload: true, Logger: log.logger(),
	})
	var written atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range readers {
		wg.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				least := written.Load()
				text, err := s.Compose("m")
				if err != nil {
					t.Error(err)
					return
				}
				var first, second int64
				if _, err := fmt.Sscanf(text, "n%d\n\nmode\n\nn%d", &first, &second); err != nil || first != second {
					t.Errorf("half an edit: %q, %v", text, err)
				}
				if first < least {
					t.Errorf("edit %d was there, and the composition is of %d", least, first)
				}
				if last && first != edits {
					t.Errorf("the last edit is %d, and the composition of %d", edits, first)
				}
				if text, err := s.Runtime(map[string]string{"x": "v"}); text != "v" || err != nil {
					t.Errorf("%q, %v", text, err)
				}
				s.Version()
			}
		})
	}
	for n := range int64(edits) {
		if n%3 == 0 {
			replace("core.md", "{{broken")
			s.Core()
		}
		replace("core.md", fmt.Sprintf("n%d", n+1))
		written.Store(n + 1)
		s.Core()
	}
	close(done)
	wg.Wait()
	// More than one message is possible: a reading that began before an edit may end after one that
	// saw it.
	told := strings.Join(log.lines(), "\n")
	require.GreaterOrEqual(t, strings.Count(told, "level=INFO"), edits, "each good edit is told")
	require.GreaterOrEqual(t, strings.Count(told, "level=ERROR"), edits/3)
}

func TestLinksAreFollowedAsTheFileSystemDecides(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "prompts"), 0o700))
	if err := os.Symlink("../secret", filepath.Join(dir, "prompts", "a.md")); err != nil {
		t.Skip("links can't be made here: ", err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "prompts"))
	require.NoError(t, err)
	defer root.Close()
	_, err = prompt.Load(root.FS(), prompt.Config{Core: []string{"a.md"}})
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
}
