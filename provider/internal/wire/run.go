package wire

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// New makes the adapter under test. It must send its requests to baseURL, which has no path, through client.
type New func(t testing.TB, baseURL string, client *http.Client, c *Case) provider.Provider

// Config configures [Run] and [Loops]. New is required.
type Config struct {
	Providers []string // folders of the recordings; see [Cases]
	Cases     []*Case  // instead of Providers
	New       New

	// KnownDeviations has the cases that can't be right, with the reasons. A case in it that is right is an error: the
	// reason doesn't apply any more.
	KnownDeviations map[string]string
	// Request makes the request for the answer of an exchange. Nil: [RequestFrom], or if that can't
	// read the recorded request, one with a short text.
	Request func(c *Case, exchange int) *provider.Request
	// Splits is how many times each exchange is served in random pieces; 0: 20.
	Splits int
	// Ignore has keys of the bodies that [Loops] doesn't compare.
	Ignore []string
}

// timeout is how long one exchange may take.
const timeout = 30 * time.Second

// Run has an adapter decode each exchange of each case, whole, then in single bytes, then in random pieces, compares
// the results with the expected ones, and prints a table. The package comment says what is compared.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	cases := cfg.cases(t)
	var tab table
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			wrong := cfg.judge(t, c)
			tab.add(t, c, wrong, cfg.KnownDeviations[c.Name])
		})
	}
	tab.print(t.Name())
	tab.unknown(t, cfg.KnownDeviations)
}

func (cfg *Config) cases(t testing.TB) []*Case {
	t.Helper()
	if cfg.Cases != nil {
		return cfg.Cases
	}
	return Cases(t, cfg.Providers...)
}

// judge returns the errors of a case.
func (cfg *Config) judge(t testing.TB, c *Case) []string {
	var wrong []string
	for i := range c.Exchanges {
		whole := cfg.play(t, c, i)
		for _, line := range Compare(c, i, whole) {
			wrong = append(wrong, fmt.Sprintf("exchange %d: %s", i, line))
		}
		if o := cfg.play(t, c, i, providertest.SplitBytes()); o.Content() != whole.Content() {
			wrong = append(wrong, fmt.Sprintf("exchange %d, byte by byte: %s", i, differ(o.Content(), whole.Content())))
		}
		for n := range cfg.splits() {
			if o := cfg.play(t, c, i, providertest.SplitRandom(uint64(n))); o.Content() != whole.Content() {
				wrong = append(wrong, fmt.Sprintf("exchange %d, split at random (%d): %s", i, n, differ(o.Content(), whole.Content())))
				break
			}
		}
	}
	return wrong
}

func (cfg *Config) splits() int {
	if cfg.Splits > 0 {
		return cfg.Splits
	}
	return 20
}

// play makes the call of one exchange.
func (cfg *Config) play(t testing.TB, c *Case, i int, opts ...providertest.ReplayOption) *Outcome {
	t.Helper()
	o, _ := cfg.call(t, c.Only(i), cfg.request(c, i), opts...)
	return o
}

// call makes a call with the adapter, answered by the one exchange of c.
func (cfg *Config) call(t testing.TB, c *Case, req *provider.Request, opts ...providertest.ReplayOption) (*Outcome, []providertest.ReplayedRequest) {
	t.Helper()
	server, err := providertest.NewReplayer(&c.Case, append(opts, providertest.Loop())...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	res, err := provider.Generate(ctx, cfg.New(t, server.URL, server.Client(), c), req)
	asked := server.Requests()
	return &Outcome{Response: res, Err: err, Requests: len(asked)}, asked
}

func (cfg *Config) request(c *Case, i int) *provider.Request {
	if cfg.Request != nil {
		return cfg.Request(c, i)
	}
	if req, err := RequestFrom(c, i); err == nil {
		return req
	}
	return question()
}

// question is used if the recorded request can't be read.
func question() *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("Hello.")}, MaxOutput: 1024}
}

// differ shows where two texts start to differ.
func differ(got, want string) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	from := max(0, n-30)
	return fmt.Sprintf("…%s, whole …%s", brief(got[from:min(len(got), n+40)]), brief(want[from:min(len(want), n+40)]))
}

// A table is the result of a test, by provider.
type table struct {
	order []string
	rows  map[string]*row
	lines []string
	known map[string]bool
}

type row struct{ cases, right, deviating, wrong int }

// add adds a case, and fails t if it is wrong and no known deviation, or a known deviation that is right.
func (tab *table) add(t testing.TB, c *Case, wrong []string, argument string) {
	t.Helper()
	if tab.rows == nil {
		tab.rows, tab.known = map[string]*row{}, map[string]bool{}
	}
	r := tab.rows[c.Provider]
	if r == nil {
		r = &row{}
		tab.rows[c.Provider] = r
		tab.order = append(tab.order, c.Provider)
	}
	tab.known[c.Name] = true
	r.cases++
	switch {
	case len(wrong) == 0 && argument != "":
		r.wrong++
		tab.lines = append(tab.lines, "wrong   "+c.Name+": it is right, so it isn't a deviation any more")
		t.Errorf("wire: %s is right, so it isn't a deviation any more: %s", c.Name, argument)
	case len(wrong) == 0:
		r.right++
	case argument != "":
		r.deviating++
		tab.lines = append(tab.lines, "known   "+c.Name+": "+argument)
	default:
		r.wrong++
		tab.lines = append(tab.lines, "wrong   "+c.Name+": "+wrong[0])
		t.Errorf("wire: %s:\n  %s", c.Name, strings.Join(wrong, "\n  "))
	}
}

// unknown fails t for known deviations of cases that don't exist.
func (tab *table) unknown(t testing.TB, known map[string]string) {
	t.Helper()
	for name := range known {
		if !tab.known[name] && len(tab.known) > 0 {
			t.Errorf("wire: KnownDeviations has %q, but there is no such case", name)
		}
	}
}

func (tab *table) print(title string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %-18s %6s %6s %6s %6s\n", title, "provider", "cases", "right", "known", "wrong")
	var sum row
	for _, name := range tab.order {
		r := tab.rows[name]
		fmt.Fprintf(&b, "  %-18s %6d %6d %6d %6d\n", name, r.cases, r.right, r.deviating, r.wrong)
		sum.cases, sum.right, sum.deviating, sum.wrong = sum.cases+r.cases, sum.right+r.right, sum.deviating+r.deviating, sum.wrong+r.wrong
	}
	if len(tab.order) > 1 {
		fmt.Fprintf(&b, "  %-18s %6d %6d %6d %6d\n", "all", sum.cases, sum.right, sum.deviating, sum.wrong)
	}
	slices.Sort(tab.lines)
	for _, line := range tab.lines {
		b.WriteString("  " + line + "\n")
	}
	fmt.Fprint(os.Stdout, b.String())
}
