package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/pawlkit/pawl/provider"
)

// New makes the adapter under test. It must send its requests to baseURL, which has no path,
// through client.
type New func(t testing.TB, baseURL string, client *http.Client, c *Case) provider.Provider

// An outcome is the result of one call.
type outcome struct {
	*provider.Response
	err      error
	requests int
}

// content returns everything that must not depend on how the bytes arrived, in a comparable form.
func (o *outcome) content() string {
	text, err := json.Marshal(o.Response)
	if err != nil {
		return "not JSON: " + err.Error()
	}
	if o.err != nil {
		return string(text) + "\nerror: " + o.err.Error()
	}
	return string(text)
}

// question is the request of every exchange: what was asked doesn't matter to the decoding of the
// answer.
func question() *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("Hello.")}, MaxOutput: 1024}
}

// base is the address of [New.play]. Its host is part of what golden files have.
const base = "http://127.0.0.1"

// play makes the call of exchange i, without a network. The body of the answer is what shape makes
// of it; nil: all of it, at once.
func (fresh New) play(t testing.TB, c *Case, i int, shape func(io.Reader) io.Reader) *outcome {
	t.Helper()
	c = c.Take(i, 1)
	recorded := &c.Exchanges[0].Response
	body, err := recorded.Bytes()
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	open := 0
	tr := &Offline{Reply: func(*http.Request) *http.Response {
		var r io.Reader = bytes.NewReader(body)
		if shape != nil {
			r = shape(r)
		}
		open++
		res := Reply(recorded.Status, r)
		res.Header, res.Body = recorded.Header(), &closer{r, func() { open-- }}
		return res
	}}
	res, err := provider.Generate(t.Context(), fresh(t, base, &http.Client{Transport: tr}, c), question())
	if open > 0 {
		t.Errorf("wire: %s, exchange %d: the call left the body of an answer open", c.Name, i)
	}
	return &outcome{res, err, len(tr.Asked)}
}

// A closer is a body that counts its first Close.
type closer struct {
	io.Reader
	closed func()
}

// Close calls closed once.
func (c *closer) Close() error {
	c.closed()
	c.closed = func() {}
	return nil
}

// inPieces has a body read in pieces of random sizes, most of them small: the same ones for the
// same seed.
func inPieces(seed uint64) func(io.Reader) io.Reader {
	random := rand.New(rand.NewPCG(seed, 17))
	return func(r io.Reader) io.Reader {
		if random.IntN(2) == 0 {
			r = iotest.DataErrReader(r) // some readers report the end together with the last bytes
		}
		return &pieces{r, random}
	}
}

type pieces struct {
	r      io.Reader
	random *rand.Rand
}

// Read reads the next piece.
func (p *pieces) Read(b []byte) (int, error) {
	most := 1 << (2 * p.random.IntN(6)) // 1, 4, 16 … 1024
	return p.r.Read(b[:min(len(b), 1+p.random.IntN(most))])
}

// cutAt ends a body after n bytes: with an error if the connection drops, else regularly.
func cutAt(r io.Reader, n int, drops bool) io.Reader {
	if drops {
		return io.MultiReader(io.LimitReader(r, int64(n)), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return io.LimitReader(r, int64(n))
}

// split returns how an exchange is decoded to something else if it arrives in pieces.
func (fresh New) split(t testing.TB, c *Case, i int, whole *outcome) string {
	t.Helper()
	for n := range *splits + 1 {
		shape, name := inPieces(uint64(n)), "in random pieces"
		if n == 0 {
			shape, name = iotest.OneByteReader, "byte by byte"
		}
		if got := fresh.play(t, c, i, shape).content(); got != whole.content() {
			return name + ": " + differ(got, whole.content())
		}
	}
	return ""
}

// differ shows where two texts start to differ.
func differ(got, want string) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	from := max(0, n-30)
	part := func(s string) string { return brief(s[from:min(len(s), n+60)]) }
	return "got …" + part(got) + ", want …" + part(want)
}
