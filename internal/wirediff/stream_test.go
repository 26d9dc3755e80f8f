package wirediff

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostBytes is the size of the longest recorded stream that is a seed.
const mostBytes = 24 << 10

// A seed is a stream that is mutated.
type seed struct {
	name   string
	frames []frame
}

// A frame is an event of a stream, or another line of it.
type frame struct {
	event string // its name; empty: none
	data  string
	whole bool   // there is data
	line  string // a line that isn't an event, such as a comment
}

// seedsOf returns the streams of the cases of an API, a plain one that has a bit of everything, and
// those of the recordings, if there are any.
func seedsOf(t *testing.T, a *api) []seed {
	var seeds []seed
	add := func(name, body string) {
		body = strings.TrimLeft(body, " \r\n")
		if s := (seed{name, frames(body)}); len(s.frames) > 0 && body[0] != '{' && body[0] != '[' {
			seeds = append(seeds, s)
		}
	}
	files, err := filepath.Glob("../wirecases/testdata/*.txt")
	require.NoError(t, err)
	for _, path := range append(files, "testdata/plain-"+a.name+".txt") {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		head, rest, ok := strings.Cut(string(data), "\n-- answer --\n")
		answer, _, _ := strings.Cut(rest, "\n-- want --\n")
		status, body, _ := strings.Cut(answer, "\n\n")
		if ok && strings.HasPrefix(head, a.name+"\n") && strings.HasPrefix(status, "HTTP/1.1 200 ") {
			add(filepath.Base(path), body)
		}
	}
	require.NotEmpty(t, seeds)
	wire := os.Getenv("PAWL_WIRE")
	if wire == "" {
		return seeds
	}
	files, err = filepath.Glob(filepath.Join(wire, a.recordings, "*.json"))
	require.NoError(t, err)
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var recorded struct {
			Exchanges []struct {
				Response struct {
					Status int
					Stream bool
					Body   string
				}
			}
		}
		require.NoError(t, json.Unmarshal(data, &recorded))
		for i, e := range recorded.Exchanges {
			if r := e.Response; r.Stream && r.Status == http.StatusOK && len(r.Body) <= mostBytes {
				add(fmt.Sprintf("%s#%d", filepath.Base(path), i), r.Body)
			}
		}
	}
	return seeds
}

// frames reads the body of a stream.
func frames(body string) []frame {
	var all []frame
	var f frame
	body = strings.ReplaceAll(body, "\r\n", "\n")
	if !strings.HasSuffix(body, "\n\n") {
		body += "\n\n"
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		name, text, _ := strings.Cut(line, ":")
		text = strings.TrimPrefix(text, " ")
		switch {
		case line == "" && (f.whole || f.event != ""):
			all, f = append(all, f), frame{}
		case line == "":
		case name == "data" && f.whole:
			f.data += "\n" + text
		case name == "data":
			f.data, f.whole = text, true
		case name == "event":
			f.event = text
		default:
			all = append(all, frame{line: line})
		}
	}
	return all
}

// A stream is a seed with mutations.
type stream struct {
	api    *api
	seed   *seed
	number uint64
	frames []frame
	style  style
	cut    int // after so many thousandths of the body; 0: not
	flip   int // the byte after so many thousandths of the body is changed; 0: not
	pieces int // the body comes in pieces of at most so many bytes; 0: in one
	valid  bool
	did    []string
}

// A style says how events are written.
type style struct {
	end      string // of a line
	colon    string // between a name and its value
	mark     bool   // a byte order mark comes first
	unnamed  bool   // events have no names
	blanks   bool   // there are more empty lines than needed
	ids      bool   // events have other fields
	nameLast bool   // the name of an event comes after its data
	unclosed bool   // no empty line after the last event
}

// original returns a stream that is its seed.
func original(a *api, of *seed) *stream {
	return &stream{api: a, seed: of, frames: slices.Clone(of.frames), style: style{end: "\n", colon: ": "}}
}

func (s *stream) has(did string) bool { return slices.Contains(s.did, did) }

// body returns the bytes of the stream.
func (s *stream) body() string {
	var b strings.Builder
	if s.style.mark {
		b.WriteString("\uFEFF")
	}
	end, colon := s.style.end, s.style.colon
	for i, f := range s.frames {
		if f.line != "" {
			b.WriteString(f.line + end)
			continue
		}
		if s.style.ids {
			b.WriteString("id" + colon + "7" + end + "retry" + colon + "3000" + end)
		}
		name := ""
		if f.event != "" && !s.style.unnamed {
			name = "event" + colon + f.event + end
		}
		if !s.style.nameLast {
			b.WriteString(name)
		}
		if f.whole {
			for line := range strings.SplitSeq(f.data, "\n") {
				b.WriteString("data" + colon + line + end)
			}
		}
		if s.style.nameLast {
			b.WriteString(name)
		}
		if s.style.blanks {
			b.WriteString(end + end)
		}
		if i < len(s.frames)-1 || !s.style.unclosed {
			b.WriteString(end)
		}
	}
	body := b.String()
	if s.cut > 0 {
		body = body[:len(body)*s.cut/1000]
	}
	if at := len(body) * s.flip / 1000; s.flip > 0 && at < len(body) {
		body = body[:at] + string([]byte{body[at] ^ 4}) + body[at+1:]
	}
	return body
}

// A transport answers each request with a stream, from memory.
type transport struct {
	s     *stream
	body  string
	asked int
}

// RoundTrip answers the first request with the stream, and others with an error: a client asks
// again to go on with an answer.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	t.asked++
	res := &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r}
	if t.asked > 1 {
		res.Status, res.StatusCode = "400 Bad Request", http.StatusBadRequest
		res.Header.Set("Content-Type", "application/json")
		res.Body = io.NopCloser(strings.NewReader(`{"error":{"message":"one answer is enough","code":400}}`))
		return res, nil
	}
	res.Body = io.NopCloser(strings.NewReader(t.body))
	if t.s.pieces > 0 {
		res.Body = &pieces{strings.NewReader(t.body), rand.New(rand.NewPCG(t.s.number, 1)), t.s.pieces}
	}
	return res, nil
}

// pieces reads a body in pieces of random sizes.
type pieces struct {
	*strings.Reader
	r    *rand.Rand
	most int
}

func (p *pieces) Read(b []byte) (int, error) {
	return p.Reader.Read(b[:min(len(b), 1+p.r.IntN(p.most))])
}

func (p *pieces) Close() error { return nil }
