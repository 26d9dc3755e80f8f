//go:build unix

package file_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/file"
)

var swaps = flag.Int("swaps", 2000, "how often a directory is replaced by a link to a hidden or protected one")

// swapping replaces names by links to hidden and protected ones n times while work runs again and
// again, in two goroutines.
func swapping(t *testing.T, dir string, n int, work func(ctx context.Context, i int)) {
	t.Helper()
	pairs := [][2]string{ // names, and the links that take their place
		{"pub", "to-secrets"}, {"pub/sub", "pub/to-deep"}, {"open.txt", "to-env"}, {"hooks", "to-git"},
		{"pub", "to-git"},
	}
	var done atomic.Bool
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for i := 0; !done.Load(); i++ {
				work(context.Background(), i)
			}
		})
	}
	for i := range n {
		pair := pairs[i%len(pairs)]
		name, link := filepath.Join(dir, pair[0]), filepath.Join(dir, pair[1])
		for _, step := range [][2]string{{name, name + ".aside"}, {link, name}, {name, link}, {name + ".aside", name}} {
			tries := 0
			for os.Rename(step[0], step[1]) != nil { // a writer has created the name again
				_ = os.RemoveAll(step[1])
				tries++
				require.Less(t, tries, 1000)
			}
		}
	}
	done.Store(true)
	workers.Wait()
}

// castle fills a directory with names that can be replaced by links to hidden and protected ones.
func castle(t *testing.T, dir string) {
	t.Helper()
	fill(t, dir,
		content{"pub/f.txt": "seen", "pub/sub/f.txt": "seen", "hooks/f.txt": "seen", "open.txt": "seen", "free/": ""})
	fill(t, dir, content{"secrets/f.txt": secret, "secrets/sub/f.txt": secret, "secrets/key.txt": secret,
		".env": secret, ".git/f.txt": "theirs"})
	fill(t, dir, content{"pub/.deep/f.txt": secret, "pub/.deep/key.txt": secret})
	for name, target := range map[string]string{"to-secrets": "secrets", "pub/to-deep": ".deep", "to-env": ".env",
		"to-git": ".git"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
}

var walls = file.Config{Overwrite: true, Hide: []string{"secrets/**", ".env", ".deep"}}

func TestSwappedDirectoriesShowNothingHidden(t *testing.T) {
	trees(t, walls, nil, func(t *testing.T, tree file.Tree, dir string) {
		castle(t, dir)
		var reads, leaks atomic.Int64
		look := func(text string) {
			reads.Add(1)
			if strings.Contains(text, secret) || strings.Contains(text, "key.txt") {
				leaks.Add(1)
			}
		}
		names := []string{"pub/f.txt", "pub/sub/f.txt", "open.txt", "pub/key.txt", "pub/sub/key.txt"}
		swapping(t, dir, *swaps/2, func(ctx context.Context, i int) {
			name := names[i%len(names)]
			if c, err := tree.Read(ctx, name); err == nil {
				look(string(c.Data))
			}
			if info, err := tree.Stat(ctx, name); err == nil && info.Kind == file.File {
				reads.Add(1)
				if info.Size == int64(len(secret)) {
					leaks.Add(1)
				}
			}
			if i%10 == 0 {
				look(string(call(t, tree, "file.search", in{"pattern": "the secret", "hidden": true}).Data))
				look(string(call(t, tree, "file.list", in{"path": "pub", "depth": 3, "hidden": true}).Data))
			}
			if s, ok := tree.(*file.Staging); ok {
				_ = s.Drop(name)
			}
		})
		require.NotZero(t, reads.Load())
		require.Zero(t, leaks.Load(), "hidden files were shown, of %d reads", reads.Load())
	})
}

func TestSwappedDirectoriesChangeNothingProtected(t *testing.T) {
	ws, dir := workspace(t, walls, nil)
	castle(t, dir)
	inside := func() (content, content) {
		return files(t, filepath.Join(dir, ".git")), files(t, filepath.Join(dir, "secrets"))
	}
	git, hidden := inside()
	var changes atomic.Int64
	swapping(t, dir, *swaps, func(ctx context.Context, i int) {
		for _, at := range []string{"hooks", "pub"} {
			var errs []error
			add := func(err error) { errs = append(errs, err) }
			_, err := ws.Write(ctx, at+"/f.txt", []byte("evil"+strings.Repeat("!", i%7)), overwrite)
			add(err)
			_, err = ws.Write(ctx, at+"/new/f.txt", []byte("evil"), overwrite)
			add(err)
			add(ws.Remove(ctx, at+"/new/f.txt", ""))
			_, err = ws.Move(ctx, at+"/f.txt", "free/"+at, "")
			add(err)
			_, err = ws.Move(ctx, "free/"+at, at+"/f.txt", "")
			add(err)
			for _, err := range errs {
				if err == nil {
					changes.Add(1)
				}
			}
			if i%5 == 0 {
				_ = ws.Remove(ctx, "free/"+at, "")
			}
		}
	})
	require.NotZero(t, changes.Load())
	gitAfter, hiddenAfter := inside()
	require.Equal(t, git, gitAfter, "after %d changes", changes.Load())
	require.Equal(t, hidden, hiddenAfter)
	for name, text := range files(t, dir) {
		if !strings.HasPrefix(name, "secrets/") && name != ".env" && !strings.Contains(name, ".deep/") {
			require.NotEqual(t, secret, text, "a hidden file was moved to %s", name)
		}
		require.NotContains(t, name, ".pawl-tmp-", "nothing is left behind")
	}
}
