package file_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

var randomFiles = flag.Int("files", 100, "how many random files are changed")

// A randomLine is a line of a random file. A plain one can be named in an edit.
type randomLine struct {
	text, end string
	plain     bool
}

// A randomFile is a file with any line ends, encoding and size.
type randomFile struct {
	mark  string
	lines []randomLine
}

func (f *randomFile) String() string { return f.mark + join(f.lines) }

// join returns lines as they are in the file.
func join(lines []randomLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + l.end)
	}
	return b.String()
}

// uniform returns the line end of all lines, "" if they differ, if there is none, or if it is a
// single CR within the file.
func (f *randomFile) uniform() (end string) {
	if n := len(f.lines); n == 2 && f.lines[0].end == "\r" && f.lines[1].end == "" {
		return ""
	}
	for _, l := range f.lines {
		if l.end != "" && end != "" && l.end != end {
			return ""
		}
		end = max(l.end, end)
	}
	return end
}

// newRandomFile returns a random file. Its plain lines are different, so that each occurs once.
func newRandomFile(r *rand.Rand) *randomFile {
	kinds := [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n"}, {"\n", "\r\n", "\r"}}
	f, ends := &randomFile{}, kinds[r.IntN(len(kinds))]
	if r.IntN(4) == 0 {
		f.mark = "\ufeff"
	}
	n := r.IntN(40)
	if r.IntN(20) == 0 {
		n = r.IntN(5000)
	}
	words := []string{"x", "func a() {", "\tindented", "grün", "日本語", "👩‍👩‍👧", "--- a", "+++ b",
		"@@ -1 +1 @@"}
	raw := r.IntN(3) == 0
	for i := range n {
		l := randomLine{text: fmt.Sprintf("<%d> %s", i, words[r.IntN(len(words))]), end: ends[r.IntN(len(ends))],
			plain: true}
		if r.IntN(3) == 0 {
			l.text = words[r.IntN(len(words))] + fmt.Sprintf(" <%d>", i)
		}
		if raw && r.IntN(3) == 0 { // another encoding than UTF-8
			l = randomLine{text: fmt.Sprint(i, " caf\xe9 \xff\x80"), end: l.end}
		}
		f.lines = append(f.lines, l)
	}
	if n > 0 && r.IntN(2) == 0 {
		f.lines[n-1].end = ""
	}
	return f
}

// newLines returns up to three lines of new text.
func newLines(r *rand.Rand) (texts []string) {
	for i := range r.IntN(4) {
		texts = append(texts, fmt.Sprint("new ", i, " ü"))
	}
	return texts
}

// span returns a range of plain lines, nothing if there is none.
func (f *randomFile) span(r *rand.Rand) (from, to int) {
	if len(f.lines) == 0 {
		return 0, 0
	}
	from = r.IntN(len(f.lines))
	for to = from; to < len(f.lines) && to-from < 4 && f.lines[to].plain; to++ {
		continue
	}
	return from, to
}

// edit returns an input of file.edit that replaces some lines, and the file afterwards.
func (f *randomFile) edit(r *rand.Rand) (input in, want string) {
	from, to := f.span(r)
	if from == to {
		return nil, ""
	}
	old, now := strings.Builder{}, strings.Join(newLines(r), []string{"\n", "\r\n"}[r.IntN(2)])
	written, end := now, f.uniform()
	for i, l := range f.lines[from:to] {
		switch last := from+i == to-1; {
		case last: // its end stays
			old.WriteString(l.text)
		case end != "":
			old.WriteString(l.text + []string{"\n", "\r\n"}[r.IntN(2)])
		default:
			old.WriteString(l.text + l.end)
		}
	}
	if end != "" {
		written = strings.ReplaceAll(strings.ReplaceAll(now, "\r\n", "\n"), "\n", end)
	}
	return in{"path": "f", "old": old.String(), "new": now},
		f.mark + join(f.lines[:from]) + written + f.lines[to-1].end + join(f.lines[to:])
}

// write returns an input of file.write, and the file afterwards.
func (f *randomFile) write(r *rand.Rand) (input in, want string) {
	var b strings.Builder
	for _, text := range newLines(r) {
		b.WriteString(text + []string{"\n", "\r\n"}[r.IntN(2)])
	}
	want = b.String()
	if end := f.uniform(); end != "" {
		want = strings.ReplaceAll(strings.ReplaceAll(want, "\r\n", "\n"), "\n", end)
	}
	return in{"path": "f", "content": b.String()}, f.mark + want
}

// patch returns an input of file.patch that replaces some lines, and the file afterwards.
func (f *randomFile) patch(r *rand.Rand) (input in, want string) {
	from, to := f.span(r)
	for _, l := range f.lines {
		if from == to || l.end == "\r" && f.uniform() == "" {
			return nil, "" // lines of a patch don't end in CR alone
		}
	}
	keep := r.IntN(to - from + 1) // unchanged lines in front
	added := newLines(r)
	if len(f.lines) == 0 || keep == to-from && len(added) == 0 {
		return nil, ""
	}
	var b strings.Builder
	b.WriteString("--- a/f\n+++ b/f\n")
	b.WriteString([]string{"@@\n", fmt.Sprintf("@@ -%d,1 +%d,99 @@\n", from+1, from+1),
		fmt.Sprintf("@@ -%d +1 @@ func\n", r.IntN(100))}[r.IntN(3)])
	for i, l := range f.lines[from:to] {
		b.WriteString(map[bool]string{true: " ", false: "-"}[i < keep] + l.text + "\n")
	}
	usual := f.uniform()
	if usual == "" {
		usual = "\n"
		for _, l := range f.lines {
			if l.end != "" {
				usual = l.end
				break
			}
		}
	}
	list := append([]randomLine(nil), f.lines[:from+keep]...)
	for i, text := range added {
		b.WriteString("+" + text + "\n")
		at := min(from+keep+i, to-1) // the line that it replaces or follows
		end := usual
		if at >= 0 && f.lines[at].end != "" {
			end = f.lines[at].end
		}
		list = append(list, randomLine{text: text, end: end})
	}
	if n := len(f.lines); to == n && f.lines[n-1].end == "" && len(added) > 0 {
		list[len(list)-1].end = "" // the file still ends without a line end
		if keep == to-from {
			list[to-1].end = usual
		}
	}
	return in{"paths": []string{"f"}, "patch": b.String()}, f.mark + join(append(list, f.lines[to:]...))
}

// With -files 1000 it takes about a minute.
func TestWhatIsntChangedStaysByteForByte(t *testing.T) {
	cfg := file.Config{Overwrite: true, Patch: true, History: filepath.Join(t.TempDir(), "history")}
	ws, dir := workspace(t, cfg, nil)
	at, made := filepath.Join(dir, "f"), map[string]int{}
	for i := range *randomFiles {
		r := rand.New(rand.NewPCG(47, uint64(i)))
		f := newRandomFile(r)
		for name, change := range map[string]func(*rand.Rand) (in, string){"file.edit": f.edit, "file.write": f.write,
			"file.patch": f.patch} {
			input, want := change(rand.New(rand.NewPCG(48, uint64(i))))
			if input == nil || want == f.String() {
				continue
			}
			mode := os.FileMode([]os.FileMode{0o600, 0o644, 0o755}[i%3])
			require.NoError(t, os.WriteFile(at, []byte(f.String()), mode))
			require.NoError(t, os.Chmod(at, mode))
			out, undo := keyed(t, ws, fmt.Sprint(name, i), name, input)
			require.Equal(t, tools.OK, out.Status, "%d %s: %s\n%q\n%q", i, name, said(out), f, input)
			require.Equal(t, want, read(t, dir, "f"), "%d %s: %q\n%q", i, name, f, input)
			if info, err := os.Stat(at); runtime.GOOS != "windows" {
				require.NoError(t, err)
				require.Equal(t, mode, info.Mode().Perm())
			}
			require.NoError(t, undo())
			require.Equal(t, f.String(), read(t, dir, "f"), "%d %s", i, name)
			made[name]++
		}
	}
	for _, name := range []string{"file.edit", "file.write", "file.patch"} {
		require.Greater(t, made[name], *randomFiles/3, "most files are changed in each way")
	}
	t.Log(made)
}
