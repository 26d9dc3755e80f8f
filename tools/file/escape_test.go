package file_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

const secret = "the secret outside"

// fortress returns a tree over a directory with every kind of trap, and the directory that contains
// it and the files outside.
func fortress(t *testing.T, test func(t *testing.T, tree file.Tree, outside string)) {
	trees(t, file.Config{Overwrite: true},
		content{"in.txt": "inside", "dir/deep.txt": "inside", ".git/config": "settings"},
		func(t *testing.T, tree file.Tree, dir string) {
			up := filepath.Dir(dir)
			fill(t, up, content{"secret.txt": secret, "root-evil/secret.txt": secret, "other/secret.txt": secret})
			for name, target := range map[string]string{
				"abs":           filepath.Join(up, "secret.txt"),
				"absdir":        filepath.Join(up, "other"),
				"rel":           "../secret.txt",
				"reldir":        "../other",
				"dangling":      "../new.txt",
				"danglingabs":   filepath.Join(up, "new.txt"),
				"danglingdir":   "../newdir",
				"chain":         "rel",
				"dir/up":        "../../secret.txt",
				"dir/updir":     "../..",
				"sibling":       "../root-evil",
				"loop":          "loop2",
				"loop2":         "loop",
				"self":          "self/x",
				"proc":          "/proc/self/root",
				"good":          "in.txt",
				"gooddir":       "dir",
				"gitdir":        ".git",
				"dir/backandin": "../../root/in.txt", // leaves and comes back: rejected, too
			} {
				require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
			}
			test(t, tree, up)
		})
}

var escapes = []string{
	"..", "../", "../secret.txt", "../root-evil/secret.txt", "../root/in.txt", "dir/../../secret.txt",
	"./../secret.txt",
	"dir/../dir/../../secret.txt", "/etc/passwd", "/", "//etc/passwd", "/in.txt", "../../../../../../etc/passwd",
	"abs", "absdir/secret.txt", "rel", "reldir/secret.txt", "reldir/new.txt", "dangling", "danglingabs",
	"danglingdir/x.txt",
	"chain", "dir/up", "dir/updir/secret.txt", "sibling/secret.txt", "loop", "loop/x", "self", "self/y",
	"proc/etc/passwd",
	"dir/backandin", `..\secret.txt`, `C:\secret.txt`, `dir\..\..\secret.txt`, "in.txt\x00", "in.txt\n",
	"a\u202etxt.in",
	"\xff\xfe", "a\x1b[2Jb", "dir/\x7f", strings.Repeat("a", 300), strings.Repeat("a/", 100) + "b",
	strings.Repeat("x", 5000),
}

func TestNoNameLeadsOutOfTheWorkspace(t *testing.T) {
	require.GreaterOrEqual(t, len(escapes), 40)
	fortress(t, func(t *testing.T, tree file.Tree, up string) {
		before := files(t, up)
		for _, name := range escapes {
			for tool, input := range map[string]in{
				"file.read":   {"path": name},
				"file.write":  {"path": name, "content": "evil"},
				"file.edit":   {"path": name, "old": "secret", "new": "evil"},
				"file.delete": {"path": name},
				"file.move":   {"from": name, "to": "taken.txt"},
			} {
				said := bad(t, tree, tool, input)
				require.NotContains(t, said, secret, "%s %q", tool, name)
				require.NotContains(t, said, up, "%s %q says where the workspace lies", tool, name)
			}
			require.NotContains(t, bad(t, tree, "file.move", in{"from": "in.txt", "to": name}), secret)
			for _, tool := range []string{"file.list", "file.search", "file.stat"} {
				out := call(t, tree, tool, in{"path": name, "pattern": "secret"})
				if tool != "file.search" {
					out = call(t, tree, tool, in{"path": name})
				}
				require.NotContains(t, said(out), secret, "%s %q", tool, name)
				require.NotContains(t, string(out.Data), secret)
				require.False(t, out.Status == tools.OK && tool != "file.stat", "%s %q: %s", tool, name, said(out))
			}
		}
		if s, ok := tree.(*file.Staging); ok {
			_, err := s.Merge(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, before, files(t, up), "nothing has changed, inside or outside")
	})
}

func TestWalksFollowNoLinksAndStayInside(t *testing.T) {
	fortress(t, func(t *testing.T, tree file.Tree, up string) {
		require.Equal(t, "no matches in 2 files", good(t, tree, "file.search", in{"pattern": "secret", "hidden": true}))
		list := good(t, tree, "file.list", in{"depth": 64})
		require.NotContains(t, list, "secret.txt  ")
		require.Contains(t, list, "loop -> loop2\n")
		require.Contains(t, list, "in.txt  6\n")
	})
}

func TestLinksInsideAreReadAndNotWrittenThrough(t *testing.T) {
	fortress(t, func(t *testing.T, tree file.Tree, up string) {
		require.Contains(t, good(t, tree, "file.read", in{"path": "good"}), "in.txt: lines 1-1 of 1")
		require.Contains(t, good(t, tree, "file.read", in{"path": "gooddir/deep.txt"}), "dir/deep.txt: lines")
		require.Contains(t, bad(t, tree, "file.write", in{"path": "good", "content": "x"}),
			"it is a symbolic link to in.txt; name the file itself")
		for tool, input := range map[string]in{
			"file.write":  {"path": "gooddir/deep.txt", "content": "x"},
			"file.edit":   {"path": "gooddir/deep.txt", "old": "inside", "new": "x"},
			"file.delete": {"path": "gooddir/deep.txt"}, "file.move": {"from": "gooddir/deep.txt", "to": "x"},
		} {
			require.Contains(t, bad(t, tree, tool, input),
				"one of its directories is a symbolic link; name dir/deep.txt if that is meant", tool)
		}
		require.Contains(t, bad(t, tree, "file.move", in{"from": "in.txt", "to": "gooddir/x"}),
			"name dir/x if that is meant")
		for _, name := range []string{"gooddir/../in.txt", "dir/../in.txt", "dir/x/../../in.txt"} {
			// a person might read another file
			require.Contains(t, bad(t, tree, "file.delete", in{"path": name}),
				"can't contain \"..\"; name in.txt if that is meant")
		}
		good(t, tree, "file.write", in{"path": "./dir//new.txt", "content": "x"})
		require.Contains(t, good(t, tree, "file.list", in{"path": "gooddir"}), "dir/new.txt  1")
	})
}

func TestProtectedFilesAreNotChangedUnderAnyName(t *testing.T) {
	fortress(t, func(t *testing.T, tree file.Tree, up string) {
		for _, name := range []string{
			".git/hooks/pre-commit", ".git/config", "gitdir/hooks/x", ".GIT/x", ".Git/x", ".g\u200cit/x", ".git./x",
			".git /x",
			".git::$INDEX_ALLOCATION/x", "GIT~1/x", "dir/.git/x", ".gıt/../.git/x", ".svn/x", ".hg",
			".g\ufe0fit/config",
		} {
			out := call(t, tree, "file.write", in{"path": name, "content": "evil"})
			require.Equal(t, fault.Denied, out.Class, "%q: %s", name, said(out))
			require.Contains(t, said(out), "protected")
		}
		good(t, tree, "file.write", in{"path": ".gitignore", "content": "x"})
		require.Contains(t, good(t, tree, "file.read", in{"path": ".git/config"}), "settings")
		require.Equal(t, fault.Denied, call(t, tree, "file.move", in{"from": "in.txt", "to": ".git/in.txt"}).Class)
		require.Equal(t, fault.Denied, call(t, tree, "file.delete", in{"path": "gitdir/config"}).Class)
	})
}

func TestHiddenFilesDontExist(t *testing.T) {
	cfg := file.Config{Hide: []string{".env*", "secrets/**", "*.PEM"}, Overwrite: true}
	c := content{".env": secret, ".env.local": secret, "a/.env": secret, "secrets/x.txt": secret, "b/key.pem": secret,
		"see.txt": "seen"}
	trees(t, cfg, c, func(t *testing.T, tree file.Tree, dir string) {
		require.NoError(t, os.Symlink(".env", filepath.Join(dir, "innocent")))
		require.NoError(t, os.Symlink("secrets", filepath.Join(dir, "harmless")))
		for _, name := range []string{".env", ".ENV", ".env.local", "a/.env", "secrets/x.txt", "Secrets/x.txt",
			"b/key.pem", "b/KEY.pem", "innocent", "harmless/x.txt"} {
			for tool, input := range map[string]in{
				"file.read": {"path": name}, "file.write": {"path": name, "content": "x"},
				"file.delete": {"path": name},
				"file.search": {"path": name, "pattern": "secret"},
			} {
				if name == "innocent" && (tool == "file.write" || tool == "file.delete") {
					bad(t, tree, tool, input)
					continue
				}
				out := call(t, tree, tool, input)
				require.Equal(t, fault.NotFound, out.Class, "%s %s: %s", tool, name, said(out))
			}
		}
		require.Equal(t, fault.NotFound, call(t, tree, "file.move", in{"from": "see.txt", "to": "b/x.pem"}).Class)
		require.Equal(t, "no matches in 1 file", good(t, tree, "file.search", in{"pattern": "secret", "hidden": true}))
		list := good(t, tree, "file.list", in{"depth": 9, "hidden": true})
		require.NotContains(t, "\n"+list, "\n.env")
		require.NotContains(t, list, "/.env")
		require.NotContains(t, list, "pem")
		require.NotContains(t, list, "x.txt")
	})
}

// Replacing a directory by a link to the outside at any moment only makes calls fail.
func TestReplacingADirectoryByALinkNeverLeadsOutside(t *testing.T) {
	trees(t, file.Config{Overwrite: true}, content{"d/f.txt": "inside", "d/g.txt": "inside"},
		func(t *testing.T, tree file.Tree, dir string) {
			up := filepath.Dir(dir)
			fill(t, up, content{"out/f.txt": secret, "out/g.txt": secret})
			before := files(t, filepath.Join(up, "out"))
			require.NoError(t, os.Symlink("../out", filepath.Join(dir, "l")))
			d, l, aside := filepath.Join(dir, "d"), filepath.Join(dir, "l"), filepath.Join(dir, "aside")

			junk := filepath.Join(up, "junk")
			require.NoError(t, os.Mkdir(junk, 0o755))
			stop := make(chan struct{})
			var swapper, workers sync.WaitGroup
			swapper.Go(func() {
				n := 0
				for {
					for _, step := range [][2]string{{d, aside}, {l, d}, {d, l}, {aside, d}} {
						for os.Rename(step[0], step[1]) != nil { // a writer has created the directory again
							require.NoError(t, os.Rename(d, filepath.Join(junk, strconv.Itoa(n))))
							n++
						}
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
			for _, name := range []string{"f.txt", "g.txt"} {
				workers.Go(func() {
					for i := range 150 {
						ctx := t.Context()
						if c, err := tree.Read(ctx, "d/"+name); err == nil && strings.Contains(string(c.Data), secret) {
							t.Error("read the file outside")
						}
						_, _ = tree.Write(ctx, "d/"+name, []byte(strings.Repeat("x", i)),
							file.WriteOptions{Overwrite: true})
						_, _ = tree.Write(ctx, "d/sub/"+name, []byte("new"), file.WriteOptions{Overwrite: true})
						_ = tree.Remove(ctx, "d/sub/"+name, "")
						_, _ = tree.Move(ctx, "d/"+name, "d/moved"+name, "")
						_, _ = tree.Move(ctx, "d/moved"+name, "d/"+name, "")
						if s, ok := tree.(*file.Staging); ok && i%10 == 0 {
							_, _ = s.Merge(ctx)
						}
					}
				})
			}
			workers.Go(func() {
				for range 50 {
					for _, at := range []string{".", "d"} {
						if out := call(t, tree, "file.search",
							in{"pattern": "secret", "path": at}); strings.Contains(string(out.Data), secret) {
							t.Error("searched outside: " + said(out))
						}
					}
				}
			})
			workers.Wait()
			close(stop)
			swapper.Wait()
			require.Equal(t, before, files(t, filepath.Join(up, "out")), "nothing outside has changed")
			for name := range files(t, dir) {
				require.NotContains(t, name, ".pawl-tmp-", "nothing is left behind")
			}
		})
}

// A hard link is an ordinary file: reading shows its content, and writing creates a new file under
// the name.
func TestAHardLinkIsReadAndNotWrittenThrough(t *testing.T) {
	ws, dir := workspace(t, file.Config{Overwrite: true}, nil)
	outside := filepath.Join(filepath.Dir(dir), "outside.txt")
	require.NoError(t, os.WriteFile(outside, []byte("theirs"), 0o644))
	require.NoError(t, os.Link(outside, filepath.Join(dir, "hard.txt")))
	require.Contains(t, good(t, ws, "file.read", in{"path": "hard.txt"}), "theirs")
	good(t, ws, "file.write", in{"path": "hard.txt", "content": "ours"})
	require.Equal(t, "theirs", read(t, filepath.Dir(dir), "outside.txt"))
	require.Equal(t, "ours", read(t, dir, "hard.txt"))
}
