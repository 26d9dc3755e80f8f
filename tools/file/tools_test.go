package file_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadShowsLinesAndTheVersion(t *testing.T) {
	cfg := file.Config{MaxShown: 1 << 10}
	c := content{"a.txt": "one\ntwo\nthree", "empty": "", "crlf": "a\r\nb\r\n", "latin": "caf\xe9\n", "bin": "PNG\x00",
		"many": lines(5000),
		"wide": strings.Repeat("é", 2000) + "\nx\n"}
	trees(t, cfg, c, func(t *testing.T, tree file.Tree, dir string) {
		require.Equal(t, "a.txt: lines 1-3 of 3, version 058053d87c818d69\none\ntwo\nthree",
			good(t, tree, "file.read", in{"path": "a.txt"}))
		require.Equal(t, "a.txt: lines 2-2 of 3, version 058053d87c818d69; continue with offset 3\n2\ttwo\n",
			good(t, tree, "file.read", in{"path": "./a.txt", "offset": 2, "limit": 1, "numbers": true}))
		require.Equal(t, "file: a.txt: it has 3 lines; offset 4 is after its end",
			bad(t, tree, "file.read", in{"path": "a.txt", "offset": 4}))
		require.Regexp(t, `^empty: empty, version [0-9a-f]{16}\n$`, good(t, tree, "file.read", in{"path": "empty"}))
		require.Contains(t, good(t, tree, "file.read", in{"path": "crlf"}), ", lines end in CRLF\na\r\nb\r\n")
		require.Contains(t, good(t, tree, "file.read", in{"path": "latin"}), "\ncaf\uFFFD\n")
		out := call(t, tree, "file.read", in{"path": "bin"})
		require.Equal(t, fault.Invalid, out.Class)
		require.ErrorIs(t, out.Err, file.ErrBinary)
		require.Contains(t, said(out), "file: bin: it is binary (4 bytes, version ")

		// Reading one part after the other gives the whole file.
		var all strings.Builder
		for offset := 1; offset <= 5000; {
			out := call(t, tree, "file.read", in{"path": "many", "offset": offset})
			var r file.ReadResult
			require.NoError(t, json.Unmarshal(out.Data, &r))
			require.Equal(t, offset, r.First)
			require.Equal(t, 5000, r.Lines)
			require.Zero(t, out.Cut)
			_, text, _ := strings.Cut(said(out), "\n")
			require.LessOrEqual(t, len(text), 1<<10)
			all.WriteString(text)
			offset = r.Last + 1
		}
		require.Equal(t, lines(5000), all.String())

		wide := good(t, tree, "file.read", in{"path": "wide"})
		require.Contains(t, wide, ", the line is cut; continue with offset 2\nééé")
		require.NotContains(t, wide, "\uFFFD")
	})
}

func TestTooLargeFilesAreRejected(t *testing.T) {
	trees(t, file.Config{MaxRead: 10, MaxWrite: 5}, content{"big": "0123456789a", "fits": "0123456789"},
		func(t *testing.T, tree file.Tree, dir string) {
			out := call(t, tree, "file.edit", in{"path": "big", "old": "0", "new": "1"})
			require.ErrorIs(t, out.Err, file.ErrTooLarge)
			require.Equal(t, "file: big: it has 11 bytes, more than the limit of 10; it can be read in parts and "+
				"searched, not changed", said(out))
			good(t, tree, "file.read", in{"path": "fits"})
			out = call(t, tree, "file.write", in{"path": "new", "content": "123456"})
			require.ErrorIs(t, out.Err, file.ErrTooLarge)
			require.Contains(t, good(t, tree, "file.stat", in{"path": "big"}), "big: file, 11 bytes, -rw")
		})
}

func TestTheErrorForAMissingNameHasASuggestion(t *testing.T) {
	c := content{"src/main.go": "", "src/helper.go": "", "README.md": "", "docs/deep/only.txt": ""}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, dir string) {
		for name, want := range map[string]string{
			"src/mian.go":     "src/main.go",
			"src/Main.go":     "src/main.go",
			"scr/main.go":     "src/main.go",
			"readme.md":       "README.md",
			"only.txt":        "docs/deep/only.txt",
			"lib/deep/x.html": "",
		} {
			out := call(t, tree, "file.read", in{"path": name})
			require.Equal(t, fault.NotFound, out.Class)
			require.ErrorIs(t, out.Err, fs.ErrNotExist)
			msg := "file: " + name + ": no such file or directory"
			if want != "" {
				msg += "; did you mean " + want + "?"
			}
			require.Equal(t, msg, said(out))
		}
		require.Equal(t, "file: README.md/x: README.md is a file, not a directory",
			bad(t, tree, "file.read", in{"path": "README.md/x"}))
		require.Equal(t, "file: src: it is a directory; name a file", bad(t, tree, "file.read", in{"path": "src"}))
	})
}

func TestAFileIsReplacedOnlyInTheVersionThatWasRead(t *testing.T) {
	trees(t, file.Config{}, content{"a.txt": "old\n"}, func(t *testing.T, tree file.Tree, dir string) {
		require.Equal(t, "file: a.txt: it exists; read it, and give the version that you read to replace it",
			bad(t, tree, "file.write", in{"path": "a.txt", "content": "new\n"}))
		out := call(t, tree, "file.write", in{"path": "a.txt", "content": "new\n", "version": "0000000000000000"})
		require.ErrorIs(t, out.Err, file.ErrChanged)
		c, err := tree.Read(t.Context(), "a.txt")
		require.NoError(t, err)
		require.Contains(t, good(t, tree, "file.write", in{"path": "a.txt", "content": "new\n", "version": c.Version}),
			"a.txt: replaced, 1 line, 4 bytes, version ")
		require.Contains(t, bad(t, tree, "file.write", in{"path": "a.txt", "content": "new\n", "version": c.Version}),
			"somebody, or this call before, has written exactly this content", "the same call again")
		require.Contains(t, bad(t, tree, "file.write", in{"path": "a.txt", "content": "new\n"}),
			"it exists already, with exactly this content")
		c, err = tree.Read(t.Context(), "a.txt")
		require.NoError(t, err)
		require.Contains(t, good(t, tree, "file.write", in{"path": "a.txt", "content": "new\n", "version": c.Version}),
			"unchanged", "with the newest version")
		out = call(t, tree, "file.write", in{"path": "gone", "content": "x", "version": c.Version})
		require.ErrorIs(t, out.Err, file.ErrChanged)
		require.Contains(t, good(t, tree, "file.write", in{"path": "n/e/w", "content": "x\ny"}),
			"n/e/w: created, 2 lines, 3 bytes")
		require.Contains(t, good(t, tree, "file.read", in{"path": "n/e/w"}), "\nx\ny")
		require.Contains(t, bad(t, tree, "file.write", in{"path": "n/e", "content": "x"}), "it is a directory")
		require.Contains(t, bad(t, tree, "file.write", in{"path": "n/e/w/x", "content": "x"}),
			"n/e/w is a file, not a directory")
		require.Contains(t, bad(t, tree, "file.write", in{"path": "n/x/", "content": "x"}), "ends in a slash")
		require.Contains(t, bad(t, tree, "file.write", in{"path": ".", "content": "x"}), "it is a directory")
	})
}

func TestEditReplacesTheOnlyOccurrence(t *testing.T) {
	c := content{"a.go": "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n", "crlf": "a\r\nb\r\nc\r\n",
		"bin": "a\x00"}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, dir string) {
		edit := func(old, now string) in { return in{"path": "a.go", "old": old, "new": now} }
		require.Equal(t,
			"file: a.go: the file contains the text to replace 2 times, at lines 2, 6; include more of the "+
				"surrounding text, or set all",
			bad(t, tree, "file.edit", edit("return 1", "return 2")))
		require.Equal(t,
			"file: a.go: the file doesn't contain the text to replace; line 2 is similar to its first line: read "+
				"from there and copy the text exactly, with its spaces and tabs",
			bad(t, tree, "file.edit", edit("    return 1\n}", "x")))
		bad(t, tree, "file.edit", edit("nowhere", "x"))
		bad(t, tree, "file.edit", edit("a", "a"))
		require.Equal(t, tools.Invalid, call(t, tree, "file.edit", edit("", "a")).Status)
		bad(t, tree, "file.edit", in{"path": "bin", "old": "a", "new": "b"})
		require.Contains(t, good(t, tree, "file.edit", edit("func b() {\n\treturn 1", "func b() {\n\treturn 2")),
			"a.go: replaced at line 5, ")
		all := edit("func", "fn")
		all["all"] = true
		require.Contains(t, good(t, tree, "file.edit", all), "replaced at lines 1, 5, ")
		require.Contains(t, good(t, tree, "file.read", in{"path": "a.go"}),
			"fn a() {\n\treturn 1\n}\n\nfn b() {\n\treturn 2\n}\n")

		good(t, tree, "file.edit", in{"path": "crlf", "old": "a\nb", "new": "x\ny"})
		require.Contains(t, good(t, tree, "file.read", in{"path": "crlf"}), "\nx\r\ny\r\nc\r\n")
		stale := edit("return", "give")
		stale["all"], stale["version"] = true, "0000000000000000"
		require.ErrorIs(t, call(t, tree, "file.edit", stale).Err, file.ErrChanged)
	})
}

func TestMoveAndDeleteOverwriteNothing(t *testing.T) {
	trees(t, file.Config{}, content{"a": "A", "b": "B", "dir/c": "C"}, func(t *testing.T, tree file.Tree, dir string) {
		require.Contains(t, bad(t, tree, "file.move", in{"from": "a", "to": "b"}), "file: b: it exists already")
		require.Contains(t, bad(t, tree, "file.move", in{"from": "a", "to": "a"}), "it exists already")
		require.Contains(t, bad(t, tree, "file.move", in{"from": "dir", "to": "d"}), "it is a directory")
		require.Contains(t, bad(t, tree, "file.delete", in{"path": "dir"}), "it is a directory")
		require.Contains(t, bad(t, tree, "file.move", in{"from": "none", "to": "d"}), "no such file")
		require.ErrorIs(t, call(t, tree, "file.delete", in{"path": "a", "version": "0000000000000000"}).Err,
			file.ErrChanged)
		require.ErrorIs(t, call(t, tree, "file.move", in{"from": "a", "to": "z", "version": "0000000000000000"}).Err,
			file.ErrChanged)
		require.Equal(t, "a: moved to n/a, 1 byte", good(t, tree, "file.move", in{"from": "a", "to": "n/a"}))
		require.Equal(t, "b: deleted", good(t, tree, "file.delete", in{"path": "b"}))
		require.Equal(t, "dir/\nn/", good(t, tree, "file.list", in{}))
		require.Equal(t, "n/a  1", good(t, tree, "file.list", in{"path": "n"}))
		require.Contains(t, bad(t, tree, "file.read", in{"path": "a"}), "file: a: ")
		good(t, tree, "file.write", in{"path": "b", "content": "again"})

		reg := registry(t, tree)
		d, _ := reg.Lookup("file.move")
		require.NoError(t, d.Undo(t.Context(), json.RawMessage(`{"from":"a","to":"n/a"}`), nil))
		require.Contains(t, good(t, tree, "file.read", in{"path": "a"}), "\nA")
	})
}

func TestListSelectsByDepthGlobAndLimit(t *testing.T) {
	c := content{"a.go": "1", "b/c.go": "22", "b/d/e.go": "333", "b/d/f.ts": "4444", ".hidden/x.go": "",
		"node_modules/x.go": "", "empty/": ""}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, dir string) {
		for _, tt := range []struct {
			input in
			want  string
		}{
			{in{}, "a.go  1\nb/\nempty/"},
			{in{"hidden": true}, ".hidden/\na.go  1\nb/\nempty/"},
			{in{"path": "b"}, "b/c.go  2\nb/d/"},
			{in{"path": "b", "depth": 2}, "b/c.go  2\nb/d/\nb/d/e.go  3\nb/d/f.ts  4"},
			{in{"glob": "*.go"}, "a.go  1\nb/c.go  2\nb/d/e.go  3"},
			{in{"glob": "b/**/*.go"}, "b/c.go  2\nb/d/e.go  3"},
			{in{"path": "b", "glob": "d/*"}, "b/d/e.go  3\nb/d/f.ts  4"},
			{in{"glob": "**/[ef].*"}, "b/d/e.go  3\nb/d/f.ts  4"},
			{in{"path": "empty"}, "nothing"},
			{in{"path": "a.go"}, "a.go  1"},
			{in{"path": "node_modules"}, "node_modules/x.go  0"},
			{in{"limit": 1}, "a.go  1\n[1 entry shown; there are more: use a glob or a smaller directory]"},
			{in{"depth": 9, "limit": 5},
				"a.go  1\nb/\nb/c.go  2\nb/d/\nb/d/e.go  3\n[5 entries shown; there are more: use a glob or a " +
					"smaller directory]"},
		} {
			require.Equal(t, tt.want, good(t, tree, "file.list", tt.input), "%v", tt.input)
		}
		require.Contains(t, bad(t, tree, "file.list", in{"glob": "[a"}), "this isn't a valid pattern")
		require.Contains(t, bad(t, tree, "file.list", in{"path": "none"}), "no such file")
	})
}

func TestSearchFindsLines(t *testing.T) {
	c := content{"a.go": "package a\n\nfunc One() {}\nfunc Two() {}\n// one\n", "b/b.txt": "alpha\r\nbeta\r\ngamma\r\n",
		"bin": "One\x00", "long": strings.Repeat("x", 1000) + "One\n",
		".dot": "One", "node_modules/m.go": "One"}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, dir string) {
		for _, tt := range []struct {
			input in
			want  string
		}{
			{in{"pattern": "One", "glob": "*.go"}, "a.go:3: func One() {}\n[1 match in 1 file searched]"},
			{in{"pattern": "one", "glob": "*.go", "ignore_case": true},
				"a.go:3: func One() {}\na.go:5: // one\n[2 matches in 1 file searched]"},
			{in{"pattern": `^func (One|Two)\(`, "regexp": true, "path": "a.go"},
				"a.go:3: func One() {}\na.go:4: func Two() {}\n[2 matches in 1 file searched]"},
			{in{"pattern": "a$", "regexp": true, "path": "b"},
				"b/b.txt:1: alpha\nb/b.txt:2: beta\nb/b.txt:3: gamma\n[3 matches in 1 file searched]"},
			{in{"pattern": `\Abeta\z`, "regexp": true, "path": "b"}, "b/b.txt:2: beta\n[1 match in 1 file searched]"},
			{in{"pattern": "a\nb", "regexp": true}, "no matches in 3 files; not searched: 1 binary"},
			{in{"pattern": "One()", "path": "a.go", "context": 1},
				"a.go-2- \na.go:3: func One() {}\na.go-4- func Two() {}\n[1 match in 1 file searched]"},
			{in{"pattern": "func", "path": "a.go", "context": 1},
				"a.go-2- \na.go:3: func One() {}\na.go:4: func Two() {}\na.go-5- // one\n[2 matches in 1 file " +
					"searched]"},
			{in{"pattern": "a", "path": "a.go", "context": 1, "limit": 1},
				"a.go:1: package a\na.go-2- \n[1 match in 1 file searched]"},
			{in{"pattern": "func", "limit": 1},
				"a.go:3: func One() {}\n[1 match in 1 file searched]\n[there are more matches; use a more specific " +
					"pattern, or search a smaller directory]"},
			{in{"pattern": "nowhere"}, "no matches in 3 files; not searched: 1 binary"},
			{in{"pattern": "x", "path": "long"}, "long:1: " + strings.Repeat("x", 400) +
				"…\n[1 match in 1 file searched]"},
			{in{"pattern": "One", "hidden": true, "glob": ".*"}, ".dot:1: One\n[1 match in 1 file searched]"},
		} {
			require.Equal(t, tt.want, good(t, tree, "file.search", tt.input), "%v", tt.input)
		}
		require.Contains(t, bad(t, tree, "file.search", in{"pattern": "(", "regexp": true}),
			"the pattern isn't a valid regular expression")
		require.Contains(t, bad(t, tree, "file.search", in{"pattern": "a\nb"}), "the pattern contains a line end")
		require.Equal(t, tools.Invalid, call(t, tree, "file.search", in{"pattern": ""}).Status)
	})
}

func TestStatDescribesAName(t *testing.T) {
	trees(t, file.Config{}, content{"a.txt": "one\n", "d/x": ""}, func(t *testing.T, tree file.Tree, dir string) {
		require.NoError(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
		require.Regexp(t, `^a\.txt: file, 4 bytes, 1 line, version [0-9a-f]{16}, -rw-r--r--`,
			good(t, tree, "file.stat", in{"path": "a.txt"}))
		require.Regexp(t, `^d: dir, drwxr-xr-x, changed 20`, good(t, tree, "file.stat", in{"path": "d"}))
		require.Contains(t, good(t, tree, "file.stat", in{"path": "link"}), "link: link to a.txt")
		require.Contains(t, good(t, tree, "file.stat", in{"path": "."}), ".: dir")
	})
}

func TestAReadOnlyWorkspaceChangesNothing(t *testing.T) {
	trees(t, file.Config{ReadOnly: true, Name: "docs"}, content{"a": "A"},
		func(t *testing.T, tree file.Tree, dir string) {
			reg := registry(t, tree)
			require.Equal(t, []string{"docs.read", "docs.list", "docs.search", "docs.stat"}, reg.Names())
			for _, d := range reg.All() {
				require.True(t, d.Spec().ReadOnly)
			}
			ctx := t.Context()
			_, err := tree.Write(ctx, "b", nil, file.WriteOptions{})
			require.Equal(t, fault.Denied, fault.Of(err))
			require.Equal(t, fault.Denied, fault.Of(tree.Remove(ctx, "a", "")))
			_, err = tree.Move(ctx, "a", "b", "")
			require.Equal(t, fault.Denied, fault.Of(err))
			require.Equal(t, content{"a": "A"}, files(t, dir))
		})
}

func TestTheToolsDeclareTheirRisksAndEffects(t *testing.T) {
	ws, _ := workspace(t, file.Config{}, nil)
	reg := registry(t, ws)
	require.Equal(t, []string{"file.read", "file.list", "file.search", "file.stat", "file.write", "file.edit",
		"file.move", "file.delete"}, reg.Names())
	require.Equal(t, reg.Names(), registry(t, stage(t, ws)).Names())
	for name, want := range map[string]struct {
		risk                 tools.Risk
		repeatable, parallel bool
	}{
		"file.read": {tools.Low, true, true}, "file.search": {tools.Low, true, true},
		"file.write": {tools.Medium, true, false}, "file.edit": {tools.Medium, false, false},
		"file.move": {tools.High, false, false}, "file.delete": {tools.High, false, false},
	} {
		d, ok := reg.Lookup(name)
		require.True(t, ok)
		s := d.Spec()
		require.Equal(t, want.risk, s.Risk, name)
		require.Equal(t, want.repeatable, s.Repeatable(), name)
		require.Equal(t, want.parallel, s.Parallel(), name)
	}
}

func TestAnInvalidConfigIsAnErrorThatNamesTheField(t *testing.T) {
	dir := t.TempDir()
	for _, cfg := range []file.Config{{Name: "no good"}, {FileMode: fs.ModeSetuid | 0o755}, {Hide: []string{"[a"}},
		{Hide: []string{""}}} {
		_, err := file.Open(dir, cfg)
		require.ErrorContains(t, err, "file: ")
	}
	_, err := file.Open(filepath.Join(dir, "none"), file.Config{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, fault.NotFound, fault.Of(err))
}
