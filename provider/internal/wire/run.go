package wire

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	splits = flag.Int("splits", 4, "how many times Run and Quirks serve each exchange in random pieces")
	update = flag.Bool("update", false, "write the golden files in testdata anew")
)

// Config configures [Run] and [Random]. New is required.
type Config struct {
	Providers []string // folders of the recordings; see [Cases]
	Cases     []*Case  // instead of Providers
	New       New
}

func (cfg *Config) cases(t testing.TB) []*Case {
	t.Helper()
	if cfg.Cases != nil {
		return cfg.Cases
	}
	return Cases(t, cfg.Providers...)
}

// timeout is how long one exchange may take.
const timeout = 30 * time.Second

// recordings is the golden file of [Run], with a line for each exchange: its name, counts of what
// it was decoded to, and a hash.
const recordings = "testdata/recordings.txt"

// Run has an adapter decode each exchange of each recorded case, whole, then in single bytes, then
// in random pieces, sends the answer back, and compares counts and a hash of the results with those
// in testdata/recordings.txt. With -update it writes that file.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	cases := cfg.cases(t)
	text, err := os.ReadFile(recordings)
	if err != nil && !*update {
		t.Fatalf("wire: %v; write it with -update", err)
	}
	want, got := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(line, " ")
		want[key] = line
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for i := range c.Exchanges {
				g, whole := cfg.New.golden(t, c, i)
				key := fmt.Sprintf("%s/%d", c.Name, i)
				got[key] = key + " " + g.line(t) + "\n"
				if !*update && got[key] != want[key] {
					t.Errorf("wire:\n got %swant %s", got[key], want[key])
				}
				most := 1
				if c.Exchanges[i].Response.Status == http.StatusUnauthorized {
					most = 2
				}
				if whole.requests > most {
					t.Errorf("wire: exchange %d: %d requests, at most %d expected", i, whole.requests, most)
				}
				if wrong := cfg.New.split(t, c, i, whole); wrong != "" {
					t.Errorf("wire: exchange %d, %s", i, wrong)
				}
			}
		})
	}
	if *update {
		write(t, recordings, strings.Join(slices.Sorted(maps.Values(got)), ""))
	}
	filtered := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	for key := range want {
		if _, ok := got[key]; !ok && !*update && !t.Failed() && !filtered {
			t.Errorf("wire: %s has %s, which isn't among the recordings", recordings, key)
		}
	}
	fmt.Printf("%s: %d cases, %d exchanges\n", t.Name(), len(cases), len(got))
}

func write(t testing.TB, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
}

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

// Case returns the case with the exchange of the quirk.
func (q Quirk) Case(t testing.TB, format string) *Case {
	t.Helper()
	c := File(format, filepath.Join(quirks, q.File))
	c.Name, c.Exchanges[0].Response.Status = q.File, q.Status
	if n := len(c.Exchanges[0].Response.Body); n > longest {
		t.Errorf("wire: %s has %d bytes, more than %d", q.File, n, longest)
	}
	return c
}

// Quirks checks that each quirk has its exchange, and that the adapter decodes it, whole, in single
// bytes and in random pieces, to the content of the golden file, which also has the request that
// sends the answer back. With -update it writes the golden files. It fails for a file of
// testdata/quirks without a quirk; tables has the quirks by format.
func Quirks(t *testing.T, fresh New, tables map[string][]Quirk) {
	t.Helper()
	known := map[string]bool{}
	for format, table := range tables {
		for _, q := range table {
			if known[q.File] {
				t.Errorf("wire: two quirks have the file %s", q.File)
			}
			known[q.File], known[q.File+goldenEnd] = true, true
			t.Run(q.File, func(t *testing.T) { fresh.quirk(t, q, format) })
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

func (fresh New) quirk(t *testing.T, q Quirk, format string) {
	c := q.Case(t, format)
	g, whole := fresh.golden(t, c, 0)
	got, file := g.text(t), filepath.Join(quirks, q.File+goldenEnd)
	if *update {
		write(t, file, got)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("wire: %v; write it with -update", err)
	}
	if got != string(want) {
		t.Errorf("wire: %s, which shows %s: %s", q.File, q.Name, differ(got, string(want)))
	}
	if wrong := fresh.split(t, c, 0, whole); wrong != "" {
		t.Errorf("wire: %s, %s", q.File, wrong)
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

var listed = regexp.MustCompile(`(?m)^\* \*\*(.+?)\*\* - .*\[([a-z-]+), \d+\]`)

// Listed checks that the tables have each quirk of the list beside the recordings (QUIRKS.md) that
// is of their formats.
func Listed(t testing.TB, tables map[string][]Quirk) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(folder(t), "QUIRKS.md"))
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	entries := listed.FindAllStringSubmatch(string(list), -1)
	for format, table := range tables {
		entries := slices.DeleteFunc(slices.Clone(entries), func(e []string) bool {
			return !strings.HasPrefix(format, e[2])
		})
		if len(entries) == 0 {
			t.Errorf("wire: the list has no quirks of %s", format)
		}
		for _, e := range entries {
			if !slices.ContainsFunc(table, func(q Quirk) bool { return q.Name == e[1] }) {
				t.Errorf("wire: no exchange shows the quirk %s of %s", e[1], format)
			}
		}
	}
}
