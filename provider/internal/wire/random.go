package wire

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
)

var cuts = flag.Int("cuts", 500, "how many random cuts and splits Random makes")

// Random decodes random exchanges of the cases as often as the flag -cuts says, each in random
// pieces, half of them cut at a random byte, where the connection drops or ends. A whole answer
// must have the content that it has in one piece. A cut one must end in an error that isn't a
// cancellation, after the beginning of the text, or, if nothing but the end of the answer is
// missing, have all text and calls.
func Random(t *testing.T, cfg Config) {
	t.Helper()
	type exchange struct {
		c     *Case
		body  []byte
		whole *Outcome
	}
	var all []exchange
	for _, c := range cfg.cases(t) {
		for i := range c.Exchanges {
			body, err := c.Exchanges[i].Response.Bytes()
			if err != nil {
				t.Fatalf("wire: %v", err)
			}
			one := c.Only(i)
			all = append(all,
				exchange{one, body, cfg.pieces(t, one, &pieces{rest: body, size: len(body), end: io.EOF})})
		}
	}
	const seed = 17
	random := rand.New(rand.NewPCG(seed, uint64(len(all))))
	var whole, cut int
	for n := range *cuts {
		e := &all[random.IntN(len(all))]
		p := &pieces{rest: e.body, random: random, size: 1 << random.IntN(12), end: io.EOF}
		at := len(e.body)
		if random.IntN(2) == 0 && len(e.body) > 0 {
			at = random.IntN(len(e.body))
			p.rest = e.body[:at]
			if random.IntN(2) == 0 {
				p.end = io.ErrUnexpectedEOF
			}
		}
		o := cfg.pieces(t, e.c, p)
		var wrong string
		if at == len(e.body) {
			whole++
			if o.Content() != e.whole.Content() {
				wrong = differ(o.Content(), e.whole.Content())
			}
		} else {
			cut++
			wrong = cutWrong(o, e.whole)
		}
		if wrong != "" {
			t.Fatalf("wire: %s, number %d, %d of %d bytes, ended by %v: %s", e.c.Name, n, at, len(e.body), p.end, wrong)
		}
	}
	fmt.Printf("%s: %d exchanges, %d whole and %d cut\n", t.Name(), len(all), whole, cut)
}

// cutWrong returns what is wrong with the outcome of a cut answer; empty: nothing.
func cutWrong(o, whole *Outcome) string {
	text, all := o.Response.Text(), whole.Response.Text()
	switch {
	case o.Err != nil && provider.Canceled(o.Err):
		return fmt.Sprintf("an error of class none: %v", o.Err)
	case !strings.HasPrefix(all, text):
		return fmt.Sprintf("the text %s isn't the beginning of the text %s", brief(text), brief(all))
	case o.Err == nil && whole.Err != nil:
		return fmt.Sprintf("no error, and the whole answer has one: %v", whole.Err)
	case o.Err == nil && (text != all || len(o.Response.Calls()) != len(whole.Response.Calls())):
		return fmt.Sprintf("no error, and %d bytes of %d of the text and %d calls of %d", len(text), len(all),
			len(o.Response.Calls()), len(whole.Response.Calls()))
	}
	return ""
}

// pieces makes a call that is answered by the bytes of p, with the status and the header of the
// case's exchange.
func (cfg *Config) pieces(t testing.TB, c *Case, p *pieces) *Outcome {
	t.Helper()
	start := *p
	requests := 0
	tr := &Offline{Reply: func(*http.Request) *http.Response {
		requests++
		again := start
		res := Reply(c.Exchanges[0].Response.Status, &again)
		res.Header = c.Exchanges[0].Response.Header()
		return res
	}}
	res, err := provider.Generate(t.Context(), cfg.New(t, "http://wire.test", &http.Client{Transport: tr}, c),
		question())
	return &Outcome{Response: res, Err: err, Requests: requests}
}

// A pieces is a body that is read in random pieces.
type pieces struct {
	rest   []byte
	random *rand.Rand // nil: all pieces have the same size
	size   int        // the largest piece
	end    error
}

// Read reads the next piece.
func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, p.end
	}
	n := max(1, p.size)
	if p.random != nil {
		n = 1 + p.random.IntN(n)
	}
	n = copy(b[:min(n, len(b))], p.rest)
	p.rest = p.rest[n:]
	if len(p.rest) == 0 && errors.Is(p.end, io.EOF) && n%2 == 0 {
		return n, io.EOF // some readers say so at once
	}
	return n, nil
}
