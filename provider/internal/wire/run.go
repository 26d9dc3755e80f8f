package wire

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlkit/pawl/provider"
)

var splits = flag.Int("splits", 4, "how many times Run serves each exchange in random pieces")

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// New makes the adapter under test. It must send its requests to baseURL, which has no path,
// through client.
type New func(t testing.TB, baseURL string, client *http.Client, c *Case) provider.Provider

// Config configures [Run] and [Random]. New is required.
type Config struct {
	Providers []string // folders of the recordings; see [Cases]
	Cases     []*Case  // instead of Providers
	New       New

	// Splits is how many times each exchange is served in random pieces; 0: what the flag -splits
	// says.
	Splits int
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
	want, err := readLines(recordings)
	if err != nil && !*update {
		t.Fatalf("wire: %v; write it with -update", err)
	}
	got := map[string]string{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for i := range c.Exchanges {
				g, whole := cfg.golden(t, c, i)
				key := fmt.Sprintf("%s/%d", c.Name, i)
				got[key] = g.line(t)
				if !*update && got[key] != want[key] {
					t.Errorf("wire: exchange %d:\n got %s\nwant %s", i, got[key], want[key])
				}
				if most := allowed(c.Exchanges[i].Response.Status); whole.Requests > most {
					t.Errorf("wire: exchange %d: %d requests, at most %d expected", i, whole.Requests, most)
				}
				for _, line := range cfg.split(t, c, i, whole) {
					t.Error("wire: " + line)
				}
			}
		})
	}
	if *update {
		if err := writeLines(recordings, got); err != nil {
			t.Fatalf("wire: %v", err)
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[key]; !ok && !t.Failed() && !filtered() {
			t.Errorf("wire: %s has %s, which isn't among the recordings", recordings, key)
		}
	}
	fmt.Printf("%s: %d cases, %d exchanges\n", t.Name(), len(cases), len(got))
}

// filtered reports whether only some of the subtests run.
func filtered() bool {
	run := flag.Lookup("test.run")
	return run != nil && strings.Contains(run.Value.String(), "/")
}

// allowed returns how many requests one call may make: after a rejected key, one more.
func allowed(status int) int {
	if status == http.StatusUnauthorized {
		return 2
	}
	return 1
}

func (cfg *Config) cases(t testing.TB) []*Case {
	t.Helper()
	if cfg.Cases != nil {
		return cfg.Cases
	}
	return Cases(t, cfg.Providers...)
}

func (cfg *Config) splits() int {
	if cfg.Splits > 0 {
		return cfg.Splits
	}
	return *splits
}

// line returns what a golden file has of a recording, which may not be copied: counts, and a hash
// of everything.
func (g *golden) line(t testing.TB) string {
	t.Helper()
	a := g.Answer
	kinds := map[provider.PartKind]int{}
	for i := range a.Parts {
		kinds[a.Parts[i].Kind]++
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, fmt.Sprintf("%s=%d", kind, kinds[kind]))
	}
	u := a.Usage
	end := string(a.Stop)
	if g.Error != nil {
		end = fmt.Sprintf("error:%s:%d", g.Error.Class, g.Error.Status)
	}
	return fmt.Sprintf("end=%s parts=%d %s usage=%d,%d,%d,%d,%d answer=%s next=%s", end, len(a.Parts),
		strings.Join(counts, " "),
		u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, hash(t, a, g.Error), hash(t, g.Next))
}

// hash returns the first 16 digits of the SHA-256 of values as JSON.
func hash(t testing.TB, values ...any) string {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// readLines reads a file of lines with a key, a blank and a value.
func readLines(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), " ")
		lines[key] = value
	}
	return lines, nil
}

func writeLines(file string, lines map[string]string) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		b.WriteString(key + " " + lines[key] + "\n")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
