package providertest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
)

// A ReplayOption says how a [Replayer] gives its answers. Without one it sends each body whole.
type ReplayOption func(p *plan, only int)

// SplitBytes sends each body, and has it read, one byte at a time.
func SplitBytes() ReplayOption {
	return split(func(n, _ int) []int {
		ends := make([]int, n)
		for i := range ends {
			ends[i] = i + 1
		}
		return ends
	})
}

// SplitRandom sends each body, and has it read, in pieces of random sizes, most of them small: the
// same ones for the same seed.
func SplitRandom(seed uint64) ReplayOption {
	return split(func(n, exchange int) (ends []int) {
		random := rand.New(rand.NewPCG(seed, uint64(exchange)))
		for at := 0; at < n; {
			most := 1 << (2 * random.IntN(6)) // 1, 4, 16 … 1024
			at = min(n, at+1+random.IntN(most))
			ends = append(ends, at)
		}
		return ends
	})
}

// SplitAt sends each body, and has it read, in pieces that end at these offsets.
func SplitAt(offsets ...int) ReplayOption {
	return split(func(n, _ int) (ends []int) {
		for _, at := range offsets {
			if at > 0 && at < n {
				ends = append(ends, at)
			}
		}
		slices.Sort(ends)
		return append(slices.Compact(ends), n)
	})
}

// CutAt drops the connection after that many bytes of the body: the client sees an error of the
// network. Beyond the end of the body it changes nothing.
func CutAt(offset int) ReplayOption { return stopAt(offset, dropped) }

// EndAt ends the body after that many bytes, properly as far as HTTP is concerned, as a proxy does
// that gives up on an answer. Beyond the end of the body it changes nothing.
func EndAt(offset int) ReplayOption { return stopAt(offset, shortened) }

// HangAt sends that many bytes of the body, and then nothing, with the connection open until the
// client has gone or the Replayer is closed.
func HangAt(offset int) ReplayOption { return stopAt(offset, hanging) }

// Loop begins with the first exchange again after the last.
func Loop() ReplayOption { return func(p *plan, _ int) { p.loop = true } }

// At has the options count for exchange i alone, counted from 0.
func At(i int, opts ...ReplayOption) ReplayOption {
	return func(p *plan, _ int) {
		for _, opt := range opts {
			if opt != nil && i >= 0 && i < len(p.each) {
				opt(p, i)
			}
		}
	}
}

// A plan is how each exchange is to be answered.
type plan struct {
	loop bool
	each []manner
}

// A manner is how one answer is given.
type manner struct {
	split func(n int) []int // returns the ends of the pieces of a body of n bytes, the last of them n
	stop  stopping
	at    int // the offset of stop
}

type stopping int

const (
	inFull stopping = iota
	dropped
	shortened
	hanging
)

func option(set func(*manner)) ReplayOption {
	return func(p *plan, only int) {
		for i := range p.each {
			if only < 0 || only == i {
				set(&p.each[i])
			}
		}
	}
}

func split(f func(n, exchange int) []int) ReplayOption {
	return func(p *plan, only int) {
		for i := range p.each {
			if only < 0 || only == i {
				p.each[i].split = func(n int) []int { return f(n, i) }
			}
		}
	}
}

func stopAt(offset int, how stopping) ReplayOption {
	return option(func(m *manner) { m.stop, m.at = how, max(offset, 0) })
}

// An answer is what one exchange is answered with, and how. It doesn't change.
type answer struct {
	manner
	status int
	header http.Header
	body   []byte
	ends   []int // of the pieces of the body; none: it is empty
}

func newAnswer(r *RecordedResponse, m manner) *answer {
	body, _ := r.Bytes() // was checked
	a := &answer{manner: m, status: r.Status, header: r.Header(), body: body}
	if m.stop != inFull && m.at >= len(body) && m.stop != hanging {
		a.stop = inFull
	}
	if a.stop != inFull {
		a.body = body[:min(m.at, len(body))]
	}
	switch {
	case len(a.body) == 0:
	case m.split == nil:
		a.ends = []int{len(a.body)}
	default:
		a.ends = m.split(len(a.body))
	}
	return a
}

// mostWrites is how many writes a body is sent in at most: a client that cuts what it reads has
// no use for more.
const mostWrites = 4096

// serve gives the answer.
func (a *answer) serve(w http.ResponseWriter, ctx context.Context, closing <-chan struct{}) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	control := http.NewResponseController(w)
	if len(a.ends) != 1 || a.stop != inFull {
		_ = control.Flush() // the client may read the headers
	}
	step := 1 + len(a.ends)/mostWrites
	for from, i := 0, step-1; from < len(a.body); i += step {
		to := a.ends[min(i, len(a.ends)-1)]
		if _, err := w.Write(a.body[from:to]); err != nil {
			return // the client has gone
		}
		if to < len(a.body) || a.stop != inFull {
			if control.Flush() != nil {
				return
			}
		}
		from = to
	}
	switch a.stop {
	case dropped:
		panic(http.ErrAbortHandler)
	case hanging:
		select {
		case <-ctx.Done():
		case <-closing:
		}
		panic(http.ErrAbortHandler)
	}
}
