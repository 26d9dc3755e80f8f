package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sort"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

const hello = "Say hello to Zoë, please."

// answered returns a check of an answer.
func answered(judge func(*record, testing.TB)) func(*suite, testing.TB) {
	return func(s *suite, t testing.TB) {
		if r := s.play(t, context.Background(), s.fresh(), s.ask(hello), nil); r != nil {
			judge(r, t)
		}
	}
}

func (r *record) grammar(t testing.TB) {
	if r.fault != "" {
		t.Errorf("%s", r.fault)
	}
	if err := r.ends(); err != nil {
		t.Errorf("%v", err)
	}
}

func (r *record) utf8(t testing.TB) {
	for i, c := range r.chunks {
		if !utf8.ValidString(c.Text) || !utf8.ValidString(c.ID) || !utf8.ValidString(c.Name) {
			t.Errorf("chunk %d, of kind %s, is not valid UTF-8: %.80q %.80q %.80q", i, c.Kind, c.Text, c.ID, c.Name)
		}
	}
}

func (r *record) usage(t testing.TB) {
	u := r.answer().Usage
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 {
		t.Errorf("a figure of the usage is negative: %+v", u)
	}
	if u.CacheRead > u.Input || u.CacheWrite > u.Input-u.CacheRead {
		t.Errorf("input counts every token of the prompt, cached ones too, and can't be less than these: %+v", u)
	}
	if u.Reasoning > u.Output {
		t.Errorf("output counts every token made, reasoning too, and can't be less than that: %+v", u)
	}
}

// errorLast provokes what errors it can; the record notes how they come.
func (s *suite) errorLast(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rounds := []*record{
		s.play(t, ctx, s.fresh(), s.ask(hello), nil),
		s.play(t, ctx, s.fresh(), s.ask(hello), func(int) { cancel() }),
		s.play(t, ctx, s.fresh(), s.ask(hello), nil),
	}
	for _, r := range rounds {
		if r != nil && r.fault != "" {
			t.Errorf("%s", r.fault)
		}
	}
}

func (s *suite) requestKept(t testing.TB) {
	req := s.ask(hello)
	req.Messages = append(req.Messages, provider.User("beyond the end"))
	req.Tools = append(req.Tools, provider.Tool{Name: "beyond the end"})
	given := *req // with room for another message and another tool, which isn't the provider's
	given.Messages = req.Messages[:len(req.Messages)-1]
	given.Tools = req.Tools[:len(req.Tools)-1]
	before, beyond := plain(t, &given), plain(t, req)
	if s.play(t, context.Background(), s.fresh(), &given, nil) == nil {
		return
	}
	if after := plain(t, &given); !bytes.Equal(before, after) {
		t.Errorf("the request was changed:\nbefore %s\nafter  %s", before, after)
	}
	if after := plain(t, req); !bytes.Equal(beyond, after) {
		t.Errorf("what lies behind the request's slices was changed:\nbefore %s\nafter  %s", beyond, after)
	}
}

func (r *record) roundTrip(t testing.TB) {
	answer := r.answer()
	text := plain(t, answer)
	var back provider.Response
	if err := json.Unmarshal(text, &back); err != nil {
		t.Errorf("the answer doesn't come back from JSON: %v\n%s", err, text)
		return
	}
	if !reflect.DeepEqual(answer, &back) {
		t.Errorf("the answer comes back from JSON as another one:\n%s\n%s", text, plain(t, &back))
	}
}

// mostChunks is how many chunks of an answer a check tries one by one.
const mostChunks = 64

func (s *suite) leave(t testing.TB) {
	whole := s.play(t, context.Background(), s.fresh(), s.ask(hello), nil)
	if whole == nil {
		return
	}
	for at := 1; at <= min(len(whole.chunks), mostChunks); at++ {
		before := goroutines()
		p := s.fresh()
		made := goroutines() // what its construction started belongs to the provider, not to the call
		for id := range made {
			before[id] = made[id]
		}
		ended := s.within(t, func() *record {
			n := 0
			for range p.Stream(context.Background(), s.ask(hello)) {
				if n++; n == at {
					break
				}
			}
			return &record{}
		})
		if ended == nil {
			return
		}
		if left := leaked(before, s.settle); left != "" {
			t.Errorf("leaving the loop at chunk %d left a goroutine behind:\n%s", at, left)
			return
		}
	}
}

func (s *suite) canceledBefore(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := s.play(t, ctx, s.fresh(), s.ask(hello), nil)
	if r == nil {
		return
	}
	s.endedByCancel(t, r)
	if s.strict && len(r.chunks) > 0 {
		t.Errorf("%s came although the context was done before the call", count(len(r.chunks), "chunk"))
	}
}

func (s *suite) canceledAmid(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := s.play(t, ctx, s.fresh(), s.ask(hello), func(int) { cancel() })
	if r == nil || len(r.chunks) == 0 { // it failed at once
		return
	}
	s.endedByCancel(t, r)
	if s.strict && len(r.chunks) > 1 {
		t.Errorf("%s came after the context was canceled", count(len(r.chunks)-1, "chunk"))
	}
}

// endsWithContext cancels calls at each chunk, and while the provider is at work.
func (s *suite) endsWithContext(t testing.TB) {
	if !provider.EndsWithContext(s.fresh()) {
		return
	}
	whole := s.play(t, context.Background(), s.fresh(), s.ask(hello), nil)
	if whole == nil {
		return
	}
	for at := 0; at <= min(len(whole.chunks), mostChunks); at++ {
		for _, delay := range []time.Duration{0, 100 * time.Microsecond} {
			ctx, cancel := context.WithCancel(context.Background())
			stop := func(n int) {
				switch {
				case n != at:
				case delay == 0:
					cancel()
				default:
					time.AfterFunc(delay, cancel)
				}
			}
			stop(0) // the call begins
			r := s.play(t, ctx, s.fresh(), s.ask(hello), stop)
			cancel()
			if r == nil {
				t.Errorf("its context was canceled after %s, which the provider declares to end the call",
					count(at, "chunk"))
				return
			}
		}
	}
}

// hangs cancels calls of hanging servers once they are silent.
func (s *suite) hangs(t testing.TB) {
	const silence = 30 * time.Millisecond
	for _, fresh := range s.hanging {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(silence, cancel)
		r := s.play(t, ctx, fresh(), s.ask(hello), func(int) { timer.Reset(silence) })
		timer.Stop()
		cancel()
		if r == nil {
			return
		}
		if r.err == nil {
			t.Errorf("the call of a server that hangs ended without an error")
		}
		s.endedByCancel(t, r)
	}
}

// endedByCancel checks the end of an answer whose context was canceled.
func (s *suite) endedByCancel(t testing.TB, r *record) {
	t.Helper()
	if r.fault != "" {
		t.Errorf("%s", r.fault)
	}
	if err := r.ends(); err != nil {
		t.Errorf("%v", err)
	}
	switch {
	case r.err != nil && !provider.Canceled(r.err):
		t.Errorf("the error of a canceled call is not of class none: %v", r.err)
	case r.err == nil && s.strict:
		t.Errorf("the call went on to its end although its context was canceled")
	}
}

// twoAtOnce compares the answers of two calls at once with those of the same calls one after the
// other. A provider that doesn't answer in the same way each time is only held to the grammar.
func (s *suite) twoAtOnce(t testing.TB) {
	texts := [2]string{"the first of two", "and here is another one, the second"}
	inTurn := func() (answers []string) {
		p := s.fresh()
		for _, text := range texts {
			if r := s.play(t, context.Background(), p, s.ask(text), nil); r != nil {
				answers = append(answers, r.String())
			}
		}
		sort.Strings(answers)
		return answers
	}
	want, again := inTurn(), inTurn()

	p := s.fresh()
	var wg sync.WaitGroup
	begun := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	records := make([]*record, 2)
	for i, text := range texts {
		wg.Go(func() {
			records[i] = s.play(t, context.Background(), p, s.ask(text), func(n int) {
				if n == 1 {
					close(begun[i])
					await(begun[1-i])
				}
			})
		})
	}
	wg.Wait()
	var got []string
	for _, r := range records {
		if r == nil {
			return
		}
		if err := r.ends(); err != nil {
			t.Errorf("%v", err)
		}
		got = append(got, r.String())
	}
	sort.Strings(got)
	if reflect.DeepEqual(want, again) && !reflect.DeepEqual(want, got) {
		t.Errorf("two calls at once gave other answers than the same calls one after the other:\n%q\n%q", got, want)
	}
}

// await waits until the other call has begun, or a moment for a provider that lets one call wait
// for the other.
func await(begun <-chan struct{}) {
	timer := time.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-begun:
	case <-timer.C:
	}
}

func (s *suite) singleUse(t testing.TB) {
	r := s.within(t, func() *record {
		seq := s.fresh().Stream(context.Background(), s.ask(hello))
		watch(seq, nil)
		return watch(seq, nil)
	})
	if r == nil {
		return
	}
	if len(r.chunks) > 0 || !errors.Is(r.err, provider.ErrConsumed) {
		t.Errorf("a second range of one sequence yielded %s and the error %v, not ErrConsumed alone",
			count(len(r.chunks), "chunk"), r.err)
	}
}

func (s *suite) nilRequest(t testing.TB) {
	r := s.play(t, context.Background(), s.fresh(), nil, nil)
	if r != nil && (r.err == nil || len(r.chunks) > 0) {
		t.Errorf("a nil request was answered with %s and the error %v", count(len(r.chunks), "chunk"), r.err)
	}
}

// String returns the answer in a form that can be compared: without its id, which may differ.
func (r *record) String() string {
	a := r.answer()
	a.ID = ""
	for i := range a.Parts {
		if a.Parts[i].Call != nil {
			c := *a.Parts[i].Call
			c.ID = ""
			a.Parts[i].Call = &c
		}
	}
	text, err := marshal(a)
	if err != nil {
		return err.Error()
	}
	if r.err != nil {
		text += " error: " + r.err.Error()
	}
	return text
}

// plain returns v as JSON in which HTML characters stay as they are.
func plain(t testing.TB, v any) []byte {
	t.Helper()
	text, err := marshal(v)
	if err != nil {
		t.Errorf("JSON can't hold it: %v", err)
	}
	return []byte(text)
}
