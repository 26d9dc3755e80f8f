package file_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/tools/file"
)

var increments = flag.Int("increments", 25, "how often each of 16 writers increments a number")

// writers is the number of writers that increment one number.
const writers = 16

// Of many writers that have read one version, one succeeds, even if all write the same content.
func TestAStaleWriterFailsAlthoughTheContentIsEqual(t *testing.T) {
	trees(t, file.Config{}, content{"a": "0"}, func(t *testing.T, tree file.Tree, dir string) {
		stale := 0
		for i := range 20 {
			c, err := tree.Read(t.Context(), "a")
			require.NoError(t, err)
			for name, o := range map[string]file.WriteOptions{"a": {Version: c.Version}, fmt.Sprint("new", i): {}} {
				var all sync.WaitGroup
				var won atomic.Int32
				for range writers {
					all.Go(func() {
						_, err := tree.Write(t.Context(), name, []byte(strconv.Itoa(i+1)), o)
						switch {
						case err == nil:
							won.Add(1)
						case !errors.Is(err, file.ErrChanged) && !errors.Is(err, fs.ErrExist):
							t.Error(err)
						}
					})
				}
				all.Wait()
				stale += int(won.Load()) - 1
			}
		}
		require.Zero(t, stale, "stale writers succeeded, of %d", 20*2*(writers-1))
	})
}

// increment adds 1 to the number in a file n times, with compare-and-swap.
func increment(ctx context.Context, tree file.Tree, n int) error {
	for range n {
		for {
			c, err := tree.Read(ctx, "n")
			if err != nil {
				return err
			}
			value, err := strconv.Atoi(string(c.Data))
			if err != nil {
				return err
			}
			if _, err = tree.Write(ctx, "n", []byte(strconv.Itoa(value+1)),
				file.WriteOptions{Version: c.Version}); err == nil {
				break
			} else if !errors.Is(err, file.ErrChanged) {
				return err
			}
		}
	}
	return nil
}

// incrementAll increments with several writers of one Workspace.
func incrementAll(ctx context.Context, tree file.Tree, writers, n int) error {
	errs := make([]error, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() { errs[i] = increment(ctx, tree, n) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func TestWritersOfTwoWorkspacesLoseNoUpdate(t *testing.T) {
	one, dir := workspace(t, file.Config{}, content{"n": "0"})
	two, err := file.Open(dir, file.Config{})
	require.NoError(t, err)
	defer two.Close()
	var all sync.WaitGroup
	for _, ws := range []*file.Workspace{one, two} {
		all.Go(func() {
			if err := incrementAll(t.Context(), ws, writers/2, *increments); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, strconv.Itoa(writers**increments), read(t, dir, "n"))
	require.Len(t, files(t, dir), 1, "nothing is left behind")
}

func TestWritersOfTwoProcessesLoseNoUpdate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	fill(t, dir, content{"n": "0"})
	n := strconv.Itoa(*increments)
	a, b := roletest.Start(t, "increment", dir, n), roletest.Start(t, "increment", dir, n)
	roletest.Together(t, a, b)
	require.Equal(t, writers**increments, roletest.Sum(t, a, b))
	require.Equal(t, strconv.Itoa(writers**increments), read(t, dir, "n"))
}

var roles = roletest.Roles{"increment": func(args []string) error {
	ws, err := file.Open(args[0], file.Config{})
	if err != nil {
		return err
	}
	defer ws.Close()
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	roletest.Ready()
	if err := incrementAll(context.Background(), ws, writers/2, n); err != nil {
		return err
	}
	fmt.Println(writers / 2 * n)
	return nil
}}
