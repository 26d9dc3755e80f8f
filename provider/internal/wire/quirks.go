package wire

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider/providertest"
)

// A Quirk is something unusual that servers do, with an exchange that shows it.
type Quirk struct {
	Name   string
	File   string // in testdata/quirks: at most 3 kB; beside it, with .golden appended, what it must be decoded to
	Status int    // of the answer
}

const (
	quirks    = "testdata/quirks"
	longest   = 3000 // bytes of an exchange
	goldenEnd = ".golden"
)

// Case returns the case with the exchange of the quirk. A file whose name ends in .sse is a stream
// of server-sent events, one in .html a web page, any other is JSON.
func (q Quirk) Case(t testing.TB, format string) *Case {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(quirks, q.File))
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	if len(body) > longest {
		t.Errorf("wire: %s has %d bytes, more than %d", q.File, len(body), longest)
	}
	kind := "application/json"
	switch filepath.Ext(q.File) {
	case ".sse":
		kind = "text/event-stream"
	case ".html":
		kind = "text/html"
	}
	c := Answer(format, q.Status, kind, string(body))
	c.Name = q.File
	return c
}

// Quirks checks that each quirk has its exchange, and that the adapter decodes it, whole, in single
// bytes and in random pieces, to the content of the golden file, which also has the request that
// sends the answer back. With -update it writes the golden files. It fails for a file of
// testdata/quirks without a quirk; tables has the quirks by format.
func Quirks(t *testing.T, fresh New, tables map[string][]Quirk) {
	t.Helper()
	known := map[string]bool{}
	cfg := Config{New: fresh, Splits: 5}
	for format, table := range tables {
		for _, q := range table {
			if known[q.File] {
				t.Errorf("wire: two quirks have the file %s", q.File)
			}
			known[q.File], known[q.File+goldenEnd] = true, true
			t.Run(q.File, func(t *testing.T) { cfg.quirk(t, q, format) })
		}
	}
	files, err := os.ReadDir(quirks)
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("wire: no quirk has the file %s", f.Name())
		}
	}
}

func (cfg *Config) quirk(t *testing.T, q Quirk, format string) {
	c := q.Case(t, format)
	g, whole := cfg.golden(t, c, 0)
	got, file := g.text(t), filepath.Join(quirks, q.File+goldenEnd)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("wire: %v; write it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("wire: %s, which shows %s: %s", q.File, q.Name, differ(string(got), string(want)))
	}
	for _, line := range cfg.split(t, c, 0, whole) {
		t.Error("wire: " + line)
	}
}

// QuirkCases returns the cases of the quirks.
func QuirkCases(t testing.TB, tables map[string][]Quirk) []*Case {
	t.Helper()
	var cases []*Case
	for _, format := range slices.Sorted(maps.Keys(tables)) {
		for _, q := range tables[format] {
			cases = append(cases, q.Case(t, format))
		}
	}
	return cases
}

// Listed checks that the tables have each quirk of the list beside the recordings (QUIRKS.md) that
// is of their formats.
func Listed(t testing.TB, tables map[string][]Quirk) {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skipf("wire: no recordings: %s isn't set", Variable)
	}
	list, err := os.ReadFile(filepath.Join(dir, "QUIRKS.md"))
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\* \*\*(.+?)\*\* - .*\[([a-z-]+), \d+\]`).
		FindAllStringSubmatch(string(list), -1) {
		for format, table := range tables {
			if strings.HasPrefix(format, m[2]) {
				seen[format]++
				if !slices.ContainsFunc(table, func(q Quirk) bool { return q.Name == m[1] }) {
					t.Errorf("wire: no exchange shows the quirk %s of %s", m[1], format)
				}
			}
		}
	}
	for format := range tables {
		if seen[format] == 0 {
			t.Errorf("wire: the list has no quirks of %s", format)
		}
	}
}

// differ shows where two texts start to differ.
func differ(got, want string) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	from := max(0, n-30)
	return fmt.Sprintf("got …%s, want …%s", brief(got[from:min(len(got), n+60)]),
		brief(want[from:min(len(want), n+60)]))
}

func brief(s string) string { return strings.ToValidUTF8(fmt.Sprintf("%q", s), "") }

// split returns how an exchange is decoded to something else if it arrives in pieces.
func (cfg *Config) split(t testing.TB, c *Case, i int, whole *Outcome) (wrong []string) {
	if o := cfg.play(t, c, i, providertest.SplitBytes()); o.Content() != whole.Content() {
		wrong = append(wrong, fmt.Sprintf("exchange %d, byte by byte: %s", i, differ(o.Content(), whole.Content())))
	}
	for n := range cfg.splits() {
		if o := cfg.play(t, c, i, providertest.SplitRandom(uint64(n))); o.Content() != whole.Content() {
			return append(wrong,
				fmt.Sprintf("exchange %d, split at random (%d): %s", i, n, differ(o.Content(), whole.Content())))
		}
	}
	return wrong
}
