package wirediff

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

var (
	streams = flag.Int("streams", 2000, "how many streams are made for each API")
	base    = flag.Uint64("seed", 1, "what the streams are made from")
	only    = flag.String("only", "", "the only stream to be read, as a failure names it: a seed, a colon and a number")
	used    = flag.Bool("classes", false, "fail if there is a class without a disagreement")
)

// A comparison is what both clients make of a stream.
type comparison struct {
	s           *stream
	body        string
	ours, maker reading
	seed        *origin
	diffs       []string
}

// An origin is what both clients make of a seed.
type origin struct {
	ours  reading
	diffs []string
}

// A reader reads streams of an API with both clients.
type reader struct {
	api        *api
	our, their *transport
	adapter    provider.Provider
	maker      client
}

func newReader(t *testing.T, a *api) *reader {
	r := &reader{api: a, our: &transport{}, their: &transport{}}
	var err error
	r.adapter, err = adapterFor(a.name, &http.Client{Transport: r.our})
	require.NoError(t, err)
	r.maker, err = a.maker(&http.Client{Transport: r.their})
	require.NoError(t, err)
	return r
}

func (r *reader) ours(ctx context.Context, s *stream, body string) reading {
	*r.our = transport{s: s, body: body}
	return guarded(func() reading { return ours(ctx, r.adapter) })
}

// compare reads a stream with both clients.
func (r *reader) compare(ctx context.Context, s *stream, seed *origin) *comparison {
	c := &comparison{s: s, body: s.body(), seed: seed}
	c.ours = r.ours(ctx, s, c.body)
	*r.their = transport{s: s, body: c.body}
	c.maker = guarded(func() reading { return r.maker(ctx) })
	note := func(diff string) { c.diffs = append(c.diffs, diff) }
	if c.ours.panicked {
		note("panic")
	}
	if s.valid {
		switch {
		case seed.ours.ok() && c.ours.ok():
			for _, diff := range differences(&c.ours, &seed.ours, true) {
				note("seed's " + diff)
			}
		case seed.ours.ok() != c.ours.ok():
			note("seed's end")
		}
	}
	switch {
	case c.ours.ok() && c.maker.ok():
		for _, diff := range differences(&c.ours, &c.maker, r.api.reasons) {
			note(diff)
		}
	case c.ours.ok() && c.maker.err != "":
		note("maker's error")
	case c.ours.ok():
		note("maker's end")
	case c.maker.ok():
		note("our error")
	}
	return c
}

// TestTheAdaptersReadWhatTheMakersClientsRead makes streams of what servers have sent, and reads
// each with an adapter and with its maker's own client.
func TestTheAdaptersReadWhatTheMakersClientsRead(t *testing.T) {
	log.SetOutput(io.Discard) // genai writes what it reads into it
	counts := map[string][]int{}
	for at, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			r, seeds := newReader(t, a), seedsOf(t, a)
			each, left := (*streams+len(seeds)-1)/len(seeds), 0
			for i := range seeds {
				c := r.compare(t.Context(), original(a, &seeds[i]), nil)
				known(t, c)
				left += r.seed(t, &seeds[i], &origin{c.ours, c.diffs}, each, func(class string) {
					if counts[class] == nil {
						counts[class] = make([]int, len(apis))
					}
					counts[class][at]++
				})
			}
			if left > 0 {
				t.Errorf("%d of %d streams are read otherwise, without a reason", left, each*len(seeds))
			}
			few(t, at, counts, each*len(seeds)/2)
			t.Logf("%d seeds with %d streams each", len(seeds), each)
		})
	}
	table(t, counts)
}

// seed compares streams of a seed. It passes the classes of disagreements to note, and returns how
// many streams have one without a class.
func (r *reader) seed(t *testing.T, of *seed, o *origin, streams int, note func(class string)) (unknown int) {
	for number := range uint64(streams) {
		name := fmt.Sprintf("%s:%d", of.name, number)
		if *only != "" && *only != name {
			continue
		}
		s := mutate(r.api, of, *base, number)
		c := r.compare(t.Context(), s, o)
		names, left := classify(c)
		for _, name := range names {
			note(name)
		}
		report := t.Logf
		if len(left) > 0 {
			unknown++
			report = t.Errorf
		}
		if *only != "" || len(left) > 0 && (unknown <= 2 || testing.Verbose()) {
			report("stream %s of %d, made by %s, valid %v, differs: %s; of a class: %s\n"+
				"ours:  %s\nmaker: %s\nseed:  %s\n%s",
				name, *base, strings.Join(s.did, ", "), s.valid, strings.Join(left, ", "), strings.Join(names, ", "),
				&c.ours, &c.maker, &o.ours, c.body)
		}
	}
	return unknown
}

// known checks what differs in a seed that isn't mutated: a case has the differences that own.txt
// names, and those of a recording have a class.
func known(t *testing.T, c *comparison) {
	name := c.s.seed.name
	if strings.HasSuffix(name, ".txt") {
		assert.Equal(t, own[name], strings.Join(c.diffs, ", "), "what differs in %s\nours:  %s\nmaker: %s",
			name, &c.ours, &c.maker)
		return
	}
	c.s.valid, c.seed = true, &origin{}
	_, left := classify(c)
	assert.Empty(t, left, "what differs in %s\nours:  %s\nmaker: %s", name, &c.ours, &c.maker)
}

// few checks that wide classes don't explain more of the damaged streams of an API than they
// should.
func few(t *testing.T, at int, counts map[string][]int, damaged int) {
	for class, percent := range most {
		if n := counts[class]; n != nil && damaged >= 500 && 100*n[at] > percent[at]*damaged {
			t.Errorf("%d of %d damaged streams are of the class %q: more than %d of 100",
				n[at], damaged, class, percent[at])
		}
	}
}

// table logs how many disagreements of each class there were.
func table(t *testing.T, counts map[string][]int) {
	var b strings.Builder
	for _, c := range classes {
		n := counts[c.name]
		if n == nil {
			n = make([]int, len(apis))
			if *used {
				t.Errorf("no disagreement is of the class %q: remove it", c.name)
			}
		}
		fmt.Fprintf(&b, "%8d %8d %8d %8d  %s\n", n[0], n[1], n[2], n[3], c.name)
	}
	t.Logf("%d streams for each API, from seed %d\n    chat responses claude  gemini\n%s", *streams, *base, b.String())
}
