package storm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"
)

// A pipes is a network in memory: a Listener, and a dialer for it. Nothing in it waits for the
// kernel, so that fake time goes on.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	open  atomic.Int64 // ends of connections that aren't closed
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	p.open.Add(2)
	a, b := &counted{Conn: near, open: &p.open}, &counted{Conn: far, open: &p.open}
	var err error
	select {
	case p.conns <- b:
		return a, nil
	case <-p.done:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, a.Close(), b.Close())
}

// A counted is an end of a connection that is counted until it is closed.
type counted struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// A fault is one way to misbehave.
type badness int

const (
	fine     badness = iota
	limited          // 429 with Retry-After
	unclear          // 429 without
	overload         // 529
	broken           // 500
	reset            // the connection ends before the answer
	hangs            // no answer at all
	slow             // pauses between the chunks
	drips            // a pause that is longer than anybody waits
	cut              // the connection ends in the middle of the answer
	unended          // the answer ends without its end
	nonsense         // what comes is no JSON
	empty            // an answer that says nothing
	waysToFail
)

// A server is a model that does what the prompt says: it books the order named in it, and then says
// so.
type server struct {
	mu    sync.Mutex
	rng   *rand.Rand
	began time.Time
	unit  time.Duration // how long a short pause is
	seen  [waysToFail]int
	bad   float64   // the share of answers that go wrong outside of storms
	first []badness // how the first answers go wrong, before all that
}

// inMemory serves without a network, and returns what to call the server with. stop ends all that,
// and says how many ends of connections are left open.
func (s *server) inMemory() (client *http.Client, stop func() (open int64, err error)) {
	net := newPipes()
	host := &http.Server{Handler: s, ErrorLog: quiet}
	var serving sync.WaitGroup
	serving.Go(func() { _ = host.Serve(net) })
	transport := &http.Transport{DialContext: net.dial, MaxIdleConnsPerHost: 64}
	return &http.Client{Transport: transport}, func() (int64, error) {
		transport.CloseIdleConnections()
		err := errors.Join(host.Close(), net.Close())
		serving.Wait()
		synctest.Wait()
		return net.open.Load(), err
	}
}

// next says how the next answer goes wrong. Now and then everything is refused for a while.
func (s *server) next() badness {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := fine
	at := time.Since(s.began) % (600 * s.unit)
	switch {
	case len(s.first) > 0:
		b, s.first = s.first[0], s.first[1:]
	case at > 200*s.unit && at < 230*s.unit:
		b = limited
	case at > 400*s.unit && at < 440*s.unit:
		b = overload
	case s.rng.Float64() < s.bad:
		b = badness(s.rng.IntN(int(waysToFail)))
	}
	s.seen[b]++
	return b
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b := s.next()
	switch b {
	case limited:
		if s.unit >= time.Second {
			w.Header().Set("Retry-After", fmt.Sprint(2*s.unit.Seconds()))
		} else {
			w.Header().Set("Retry-After-Ms", fmt.Sprint(2*s.unit.Milliseconds()))
		}
		fallthrough
	case unclear:
		refuse(w, http.StatusTooManyRequests, "rate_limit_exceeded")
		return
	case overload:
		refuse(w, 529, "overloaded")
		return
	case broken:
		refuse(w, http.StatusInternalServerError, "server_error")
		return
	case reset:
		panic(http.ErrAbortHandler)
	case hangs:
		<-r.Context().Done()
		return
	}
	s.answer(w, r, b, chunks(string(body)))
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":"not now","type":"error","code":%q}}`, code)
}

// answer streams chunks, as far as the badness lets it.
func (s *server) answer(w http.ResponseWriter, r *http.Request, b badness, chunks []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	if b == empty {
		chunks = chunks[len(chunks)-2:]
	}
	for i, c := range chunks {
		pause := time.Duration(0)
		switch {
		case b == slow:
			pause = 5 * s.unit
		case b == drips && i == 1:
			pause = 100_000 * s.unit
		case b == cut && i == len(chunks)/2:
			panic(http.ErrAbortHandler)
		case b == unended && i >= len(chunks)-2:
			return
		case b == nonsense && i == 1:
			c = `{"choices":[{"del`
		}
		if pause > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-r.Context().Done():
				timer.Stop()
				return
			}
		}
		if _, err := io.WriteString(w, "data: "+c+"\n\n"); err != nil {
			return
		}
		if flush() != nil {
			return
		}
	}
}

// chunks are the answer of a model that behaves: the call that the prompt asks for, or that it was
// made.
func chunks(body string) []string {
	delta := func(format string, args ...any) string {
		return fmt.Sprintf(
			`{"id":"c-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":`+format+`,"finish_reason":null}]}`, args...)
	}
	end := func(reason string) []string {
		return []string{
			fmt.Sprintf(
				`{"id":"c-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason),
			`{"id":"c-1","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":50,"completion_tokens":10,"total_tokens":60}}`,
			"[DONE]",
		}
	}
	if strings.Contains(body, `"role":"tool"`) {
		return append([]string{delta(`{"role":"assistant","content":"It "}`), delta(`{"content":"is booked."}`)},
			end("stop")...)
	}
	_, rest, _ := strings.Cut(body, "order ")
	n, _, _ := strings.Cut(rest, " ")
	return append([]string{
		delta(`{"role":"assistant","content":"I book it."}`),
		delta(`{"tool_calls":[{"index":0,"id":"call-1","type":"function","function":{"name":"book","arguments":""}}]}`),
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":"}}]}`),
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":"%s}"}}]}`, n),
	}, end("tool_calls")...)
}
