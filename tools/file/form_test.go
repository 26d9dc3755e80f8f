package file_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/file"
)

// text returns the content of a file of a tree.
func text(t *testing.T, tree file.Tree, name string) string {
	t.Helper()
	c, err := tree.Read(t.Context(), name)
	require.NoError(t, err)
	return string(c.Data)
}

func TestWhatIsChangedHasTheFormOfTheFile(t *testing.T) {
	const bom = "\ufeff"
	edit := func(old, now string) in { return in{"old": old, "new": now} }
	write := func(content string) in { return in{"content": content} }
	for _, tt := range []struct {
		name, before string
		input        in
		want         string
	}{
		{"CRLF, one line by two", "one\r\ntwo\r\nthree\r\n", edit("two", "two\nand a half"),
			"one\r\ntwo\r\nand a half\r\nthree\r\n"},
		{"CRLF by LF", "one\r\ntwo\r\nthree\r\n", edit("one\r\ntwo", "one\n2"), "one\r\n2\r\nthree\r\n"},
		{"CRLF, both texts with LF", "one\r\ntwo\r\n", edit("one\ntwo\n", "1\n2\n"), "1\r\n2\r\n"},
		{"CRLF, both kinds in one text", "one\r\ntwo\r\nthree", edit("one\ntwo\r\nthree", "1\r\n2\n3"),
			"1\r\n2\r\n3"},
		{"CRLF, a line is removed", "one\r\ntwo\r\n", edit("one\n", ""), "two\r\n"},
		{"LF by CRLF", "one\ntwo\n", edit("two", "2\r\n3"), "one\n2\n3\n"},
		{"LF, the old text with CRLF", "one\ntwo\n", edit("one\r\ntwo", "1\r\n2"), "1\n2\n"},
		{"CR", "one\rtwo\r", edit("one\ntwo", "1\n2\n3"), "1\r2\r3\r"},
		{"a return in the only line", "10%\r100%", edit("100%", "100%\ndone\n"), "10%\r100%\ndone\n"},
		{"CR, none at the end", "one\rtwo\rthree", edit("one\ntwo", "1\n2"), "1\r2\rthree"},
		{"one line that ends in CR", "one\r", edit("one", "1\n2"), "1\r2\r"},
		{"written, a return in the only line", "10%\r100%", write("a\nb\n"), "a\nb\n"},
		{"a return within a line", "a\rb\nc\n", edit("c", "d\r\ne"), "a\rb\nd\r\ne\n"},
		{"mixed, as it is given", "a\r\nb\nc\r\n", edit("b\nc", "B\nC"), "a\r\nB\nC\r\n"},
		{"mixed, within a line", "a\r\nb\nc\r\n", edit("c", "C"), "a\r\nb\nC\r\n"},
		{"without final newline", "one\ntwo", edit("two", "2"), "one\n2"},
		{"no lines at all", "one", edit("one", "1\n2"), "1\n2"},
		{"a mark", bom + "one\r\n", edit("one", "1\n2"), bom + "1\r\n2\r\n"},
		{"a mark in the old text", bom + "one\n", edit(bom+"one", "1"), bom + "1\n"},
		{"a mark in both", bom + "one\n", edit(bom+"one", bom+"1"), bom + "1\n"},
		{"other bytes stay", "caf\xe9\nx\n", edit("x", "y"), "caf\xe9\ny\n"},
		{"written, CRLF", "one\r\n", write("one\ntwo\n"), "one\r\ntwo\r\n"},
		{"written, LF", "one\n", write("one\r\ntwo\r\n"), "one\ntwo\n"},
		{"written, a mark", bom + "one\n", write("two\n"), bom + "two\n"},
		{"written, both", bom + "one\r\n", write("two\nthree"), bom + "two\r\nthree"},
		{"written with a mark", bom + "one\n", write(bom + "two\n"), bom + "two\n"},
		{"written, mixed", "a\r\nb\n", write("a\nb\nc\r\n"), "a\nb\nc\r\n"},
		{"written, no lines", "one", write("one\r\ntwo"), "one\r\ntwo"},
		{"written over a file of UTF-16", "\xff\xfea\x00\r\x00\n\x00", write("a\n"), "a\n"},
		{"written over an empty file", "", write("a\r\nb"), "a\r\nb"},
		{"written, a return in a line", "one\n", write("50%\r100%\r\n"), "50%\r100%\n"},
		{"written, what is binary, as is", "one\r\n", write("a\x00\nb"), "a\x00\nb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := file.Config{Overwrite: true}
			trees(t, cfg, content{"f": tt.before}, func(t *testing.T, tree file.Tree, _ string) {
				tool := "file.edit"
				if tt.input["content"] != nil {
					tool = "file.write"
				}
				tt.input["path"] = "f"
				good(t, tree, tool, tt.input)
				require.Equal(t, tt.want, text(t, tree, "f"))
			})
		})
	}
}

func TestWritingTheSameTextAgainChangesNothing(t *testing.T) {
	cfg := file.Config{Overwrite: true}
	trees(t, cfg, content{"f": "one\r\ntwo\r\n"}, func(t *testing.T, tree file.Tree, _ string) {
		require.Contains(t, good(t, tree, "file.write", in{"path": "f", "content": "one\ntwo\n"}), "unchanged")
	})
}

func TestAFileThatIsChangedKeepsItsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such permissions")
	}
	ws, dir := workspace(t, file.Config{Overwrite: true}, content{"f": "one\n"})
	at := filepath.Join(dir, "f")
	require.NoError(t, os.Chmod(at, 0o750))
	good(t, ws, "file.edit", in{"path": "f", "old": "one", "new": "two"})
	good(t, ws, "file.write", in{"path": "f", "content": "three\n"})
	info, err := os.Stat(at)
	require.NoError(t, err)
	require.EqualValues(t, 0o750, info.Mode().Perm())
}

func TestTheFormOfAFileIsSaidAndItsMarkIsntShown(t *testing.T) {
	c := content{"mark": "\ufeffa\n", "mixed": "a\r\nb\n", "cr": "a\rb\r", "bar": "10%\r100%"}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, _ string) {
		require.Regexp(t, ", begins with a byte order mark\na\n$", good(t, tree, "file.read", in{"path": "mark"}))
		require.Contains(t, good(t, tree, "file.read", in{"path": "mixed"}),
			", some lines end in CRLF and others don't\n")
		require.Contains(t, good(t, tree, "file.read", in{"path": "cr"}), ", lines end in CR\n")
		require.NotContains(t, good(t, tree, "file.read", in{"path": "bar"}), "lines end")
	})
}

func TestThePreviewOfAWriteIsWhatIsWritten(t *testing.T) {
	ws, _ := workspace(t, file.Config{Overwrite: true}, content{"f": "one\r\ntwo\r\n"})
	d, _ := registry(t, ws).Lookup("file.write")
	shown, refused := d.Preview(t.Context(), []byte(`{"path":"f","content":"one\n2\n"}`))
	require.Nil(t, refused)
	require.Equal(t, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one␍\n-two␍\n+2␍\n", shown)
}

func TestAWriteInTheFormOfTheFileIsUndone(t *testing.T) {
	cfg := file.Config{Overwrite: true, History: filepath.Join(t.TempDir(), "history")}
	trees(t, cfg, content{"f": "\ufeffone\r\n"}, func(t *testing.T, tree file.Tree, _ string) {
		_, undo := keyed(t, tree, t.Name(), "file.write", in{"path": "f", "content": "1\n2\n"})
		require.Equal(t, "\ufeff1\r\n2\r\n", text(t, tree, "f"))
		require.NoError(t, undo())
		require.Equal(t, "\ufeffone\r\n", text(t, tree, "f"))
	})
}

func TestTheErrorForTextThatDiffersInLineEndsSaysSo(t *testing.T) {
	c := content{"mixed": "one\r\ntwo\nthree\r\nfour\n", "short": "one\ntwo", "crlf": "one\r\ntwo"}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, _ string) {
		for _, tt := range []struct{ name, old, problem string }{
			{"mixed", "two\r\nthree", "the text at line 2 differs from it only in line ends"},
			{"mixed", "three\nfour", "the text at line 3 differs from it only in line ends"},
			{"mixed", "one\ntwo\nthree\nfour", `some lines end in CRLF (\r\n) and others don't`},
			{"mixed", "\ntwo", "the text at line 1 differs from it only in line ends"},
			{"short", "two\n", "its last line has no line end"},
			{"crlf", "one\ntwo\n", "its last line has no line end"},
			{"crlf", " two\n", "with its spaces and tabs"},
		} {
			require.Contains(t, bad(t, tree, "file.edit", in{"path": tt.name, "old": tt.old, "new": "x"}), tt.problem)
		}
	})
}
