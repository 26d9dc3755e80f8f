package wire

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

var (
	every = flag.Int("every", 10, "EveryCut cuts at one byte of so many, beside all ends of lines; 1: at each")
	cuts  = flag.Int("cuts", 500, "how many random cuts and splits Random makes")
)

// Conformance runs the strict conformance suite on an adapter. Exchange 0 of c, which must be
// complete, is the answer to every call.
func Conformance(t *testing.T, fresh New, c *Case) {
	t.Helper()
	often := *c
	often.Exchanges = slices.Repeat(c.Exchanges[:1], 1000)
	server := providertest.Replay(t, &often)
	client := &http.Client{Transport: splitting{server.Client().Transport}}
	providertest.Conformance(t, func() provider.Provider { return fresh(t, server.URL, client, c) },
		providertest.Strict())
}

// splitting has the answers of a transport read in random pieces.
type splitting struct{ http.RoundTripper }

// RoundTrip asks the server.
func (s splitting) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.RoundTripper.RoundTrip(req)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{inPieces(1)(res.Body), res.Body}
	}
	return res, err
}

// EveryCut serves exchange 0 of c, a complete stream, cut at many of its bytes: around each line
// end, everywhere in the end of the answer, and at one in -every of the others. The end begins at
// the last occurrence of the text end: from the end of that line or event on, a decoder may know
// that the answer is complete; before the occurrence it can't.
//
// Each cut is made twice: once with the connection dropped, once with a regular end. A stream cut
// before its end must end in an error that isn't a cancellation, with the received chunks in order;
// the whole stream must end without an error. A stream cut within the end of the answer may end
// either way. No call may leave the answer's body open.
func EveryCut(t *testing.T, fresh New, c *Case, end string) {
	t.Helper()
	body, err := c.Exchanges[0].Response.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	from := bytes.LastIndex(body, []byte(end))
	if from <= 0 {
		t.Fatalf("wire: the end of the answer doesn't begin within the body: %q isn't there", end)
	}
	whole := fresh.play(t, c, 0, nil)
	if whole.err != nil {
		t.Fatalf("wire: the whole stream is an error: %v", whole.err)
	}
	first := rand.IntN(*every)
	for at := range len(body) {
		lineEnd := bytes.IndexByte(body[max(at-1, 0):min(at+2, len(body))], '\n') >= 0
		if at%*every != first && !lineEnd && at < from-1 {
			continue
		}
		for _, drops := range []bool{true, false} {
			o := fresh.play(t, c, 0, func(r io.Reader) io.Reader { return cutAt(r, at, drops) })
			wrong := cutWrong(o, whole)
			if o.err == nil && at < from {
				wrong = "no error"
			}
			if wrong != "" {
				t.Errorf("wire: cut after %d bytes of %d, dropped: %t: %s", at, len(body), drops, wrong)
			}
			if t.Failed() {
				return // the other cuts would report the same
			}
		}
	}
}

// Random decodes random exchanges of the cases as often as the flag -cuts says, each in random
// pieces, half of them cut at a random byte, where the connection drops or ends. A whole answer
// must have the content that it has in one piece. A cut one must end in an error that isn't a
// cancellation, after the beginning of the text, or, if nothing but the end of the answer is
// missing, have all text and calls.
func Random(t *testing.T, cfg Config) {
	t.Helper()
	type exchange struct {
		c     *Case
		size  int
		whole *outcome
	}
	var all []exchange
	for _, c := range cfg.cases(t) {
		for i := range c.Exchanges {
			one := c.Take(i, 1)
			body, err := one.Exchanges[0].Response.Bytes()
			if err != nil {
				t.Fatalf("wire: %v", err)
			}
			all = append(all, exchange{one, len(body), cfg.New.play(t, one, 0, nil)})
		}
	}
	random := rand.New(rand.NewPCG(17, uint64(len(all))))
	cut := 0
	for n := range *cuts {
		e := &all[random.IntN(len(all))]
		at, drops, split := e.size, random.IntN(2) == 0, inPieces(random.Uint64())
		if random.IntN(2) == 0 && e.size > 0 {
			at = random.IntN(e.size)
			cut++
		}
		o := cfg.New.play(t, e.c, 0, func(r io.Reader) io.Reader {
			return split(cutAt(r, at, drops && at < e.size))
		})
		var wrong string
		switch {
		case at < e.size:
			wrong = cutWrong(o, e.whole)
		case o.content() != e.whole.content():
			wrong = differ(o.content(), e.whole.content())
		}
		if wrong != "" {
			t.Fatalf("wire: %s, number %d, %d of %d bytes, dropped: %t: %s", e.c.Name, n, at, e.size, drops, wrong)
		}
	}
	fmt.Printf("%s: %d exchanges, %d whole and %d cut\n", t.Name(), len(all), *cuts-cut, cut)
}

// cutWrong returns what is wrong with the outcome of a cut answer; empty: nothing.
func cutWrong(o, whole *outcome) string {
	text, all := o.Text(), whole.Text()
	switch {
	case o.err != nil && provider.Canceled(o.err):
		return fmt.Sprintf("an error of class none: %v", o.err)
	case !strings.HasPrefix(all, text):
		return fmt.Sprintf("the text %s isn't the beginning of the text %s", brief(text), brief(all))
	case o.err == nil && whole.err != nil:
		return fmt.Sprintf("no error, and the whole answer has one: %v", whole.err)
	case o.err == nil && (text != all || len(o.Calls()) != len(whole.Calls())):
		return fmt.Sprintf("no error, and %d bytes of %d of the text and %d calls of %d", len(text), len(all),
			len(o.Calls()), len(whole.Calls()))
	}
	return ""
}

func brief(s string) string { return strings.ToValidUTF8(fmt.Sprintf("%q", s), "") }
