//go:build unix

package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// What a person reads is the directory that is used, or none is.
func TestTheApprovedDirectoryIsTheOneThatIsUsed(t *testing.T) {
	other := 0
	for i, c := range []struct{ dir, used, says string }{
		{"a", "a", ""},
		{"./a//b/", "a/b", ""},
		{"link", "", `name "a/b" if that is meant`},
		{"link/..", "", `contains ".."`}, // a, but it looks like the root
		{"link/../b", "", `contains ".."`},
		{"a/..", "", `contains ".."`},
		{"up", "", `name "." if that is meant`},
		{"a/up/c", "", "can't be entered"},
		{"chain", "", `name "a/b" if that is meant`},
		{"..", "", "leads out of the root"},
		{"out", "", "leads out of the root"},
		{"a/out", "", "leads out of the root"},
		{"none", "", "there is no directory"},
	} {
		cfg := config(t, program(t, "cwd"))
		root, err := filepath.EvalSymlinks(cfg.Root)
		require.NoError(t, err)
		for _, dir := range []string{"a/b", "c"} {
			require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		}
		for name, target := range map[string]string{"link": "a/b", "up": ".", "a/up": "..", "chain": "link",
			"out": "..", "a/out": "../.."} {
			require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
		}
		b := open(t, cfg)
		input := fmt.Sprintf(`{"program":"cwd","dir":%q}`, c.dir)
		_, a := b.admit(input)
		require.Equal(t, tools.Ask, a.Verdict.Effect)
		_, shown, _ := strings.Cut(a.Verdict.Reason, " in ")
		if real, err := filepath.EvalSymlinks(root + "/" + c.dir); err == nil {
			require.Equal(t, real, shown, "%d: %s", i, c.dir)
		}
		out := b.call(t.Context(), input)
		if out.Status == tools.OK && said(out) != "exit code 0\n"+shown+"\n" {
			other++
		}
		if c.used != "" {
			require.Equal(t, tools.OK, out.Status, said(out))
			require.Equal(t, filepath.Join(root, c.used), shown)
			continue
		}
		require.Contains(t, said(out), c.says, c.dir)
	}
	require.Zero(t, other)
}

// A directory that becomes a link after the approval isn't used, at any moment.
func TestADirectoryThatIsReplacedAfterTheApprovalIsntUsed(t *testing.T) {
	cfg := config(t, program(t, "cwd"))
	root, err := filepath.EvalSymlinks(cfg.Root)
	require.NoError(t, err)
	for _, dir := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, "name"), []byte(dir), 0o644))
	}
	require.NoError(t, os.Symlink("b", filepath.Join(root, "link")))
	a, link, aside := filepath.Join(root, "a"), filepath.Join(root, "link"), filepath.Join(root, "aside")
	cfg.Programs = []process.Program{{Name: "cat", Path: lookup(t, "cat")}}
	b := open(t, cfg)
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			for _, step := range [][2]string{{a, aside}, {link, a}, {a, link}, {aside, a}} {
				require.NoError(t, os.Rename(step[0], step[1]))
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	wrong := 0
	for range 300 {
		if out := b.call(t.Context(), `{"program":"cat","args":["name"],"dir":"a"}`); strings.HasPrefix(said(out),
			"exit code 0\nb") {
			wrong++
		}
	}
	close(stop)
	swapper.Wait()
	require.Zero(t, wrong, "of 300")
}
