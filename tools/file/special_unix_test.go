//go:build unix

package file_test

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/file"
)

func TestPipesAndSocketsAreNeverOpened(t *testing.T) {
	trees(t, file.Config{Overwrite: true}, content{"in.txt": "text"}, func(t *testing.T, tree file.Tree, dir string) {
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
		t.Chdir(dir) // socket addresses are short
		l, err := net.Listen("unix", "socket")
		require.NoError(t, err)
		defer l.Close()
		for _, name := range []string{"pipe", "socket"} {
			for tool, input := range map[string]in{
				"file.read":   {"path": name},
				"file.write":  {"path": name, "content": "x"},
				"file.edit":   {"path": name, "old": "a", "new": "b"},
				"file.move":   {"from": name, "to": "x"},
				"file.delete": {"path": name},
			} {
				require.Contains(t, bad(t, tree, tool, input), "it is a pipe, a device or a socket", tool)
			}
			bad(t, tree, "file.search", in{"path": name, "pattern": "x"})
			require.Contains(t, good(t, tree, "file.stat", in{"path": name}), name+": other")
		}
		require.Equal(t, "in.txt:1: text\n[1 match in 1 file searched]",
			good(t, tree, "file.search", in{"pattern": "text"}))
		require.Contains(t, good(t, tree, "file.list", in{}), "pipe  (a pipe")
	})
}

// A pipe that replaces a file between its check and its opening doesn't block the call.
func TestAPipeThatReplacesAFileDoesntBlock(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"x": "text"})
	at, aside, pipe := filepath.Join(dir, "x"), filepath.Join(dir, "aside"), filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			for _, step := range [][2]string{{at, aside}, {pipe, at}, {at, pipe}, {aside, at}} {
				require.NoError(t, os.Rename(step[0], step[1]))
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for range 3000 {
		if c, err := ws.Read(t.Context(), "x"); err == nil {
			require.Equal(t, "text", string(c.Data))
		}
	}
	close(stop)
	swapper.Wait()
}

func TestMagicLinksOfProcAreRejected(t *testing.T) {
	ws, err := file.Open("/proc/self", file.Config{})
	if err != nil {
		t.Skip("there is no /proc")
	}
	defer ws.Close()
	for _, name := range []string{"root/etc/passwd", "cwd/doc.go", "exe", "fd/0", "task/../root/etc/passwd"} {
		_, err := ws.Read(t.Context(), name)
		require.Error(t, err, name)
	}
	c, err := ws.Read(t.Context(), "status") // a file with a reported size of 0
	require.NoError(t, err)
	require.Contains(t, string(c.Data), "Name:")
}

func TestAReplacedFileKeepsItsPermissions(t *testing.T) {
	trees(t, file.Config{Overwrite: true}, content{"run.sh": "echo a\n", "new.sh": "b\n"},
		func(t *testing.T, tree file.Tree, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o751))
			require.NoError(t, os.Chmod(filepath.Join(dir, "new.sh"), 0o766))
			good(t, tree, "file.edit", in{"path": "run.sh", "old": "echo a", "new": "echo b"})
			good(t, tree, "file.move", in{"from": "new.sh", "to": "sub/old.sh"})
			good(t, tree, "file.write", in{"path": "made.txt", "content": "x"})
			if s, ok := tree.(*file.Staging); ok {
				res, err := s.Merge(t.Context())
				require.NoError(t, err)
				require.Len(t, res.Applied, 4)
			}
			mask := os.FileMode(syscall.Umask(0o077))
			syscall.Umask(int(mask))
			for name, mode := range map[string]os.FileMode{"run.sh": 0o751, "sub/old.sh": 0o766,
				"made.txt": 0o644 &^ mask, "sub": 0o755 &^ mask} {
				info, err := os.Stat(filepath.Join(dir, name))
				require.NoError(t, err)
				require.Equal(t, mode, info.Mode().Perm(), name)
			}
		})
}
