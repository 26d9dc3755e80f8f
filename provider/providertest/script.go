package providertest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// name is how the models of this package call themselves.
const name = "scripted"

// A Model is a [provider.Provider] that answers from a script and remembers what it was asked. Make
// one with [Script]. It keeps the rules that [Conformance] checks with [Strict], unless its script
// breaks them. It is safe for concurrent use: calls take the steps in the order in which they
// begin.
type Model struct {
	plays []play // fixed at creation

	mu       sync.Mutex // guards what follows
	next     int        // the step for the next call
	requests []*provider.Request
	schemas  map[string]*schema.Schema // of tools that were called, by their text
	wrong    error                     // the first call that didn't fit its request
	info     *provider.ModelInfo       // see WithInfo
}

// Script returns a model that takes the next of the steps at each call, when the call's sequence is
// ranged over. A call beyond the script fails, with class [fault.Permanent], and says so. A call
// whose context is done already takes no step.
//
// A step fails in the same way, and streams nothing, if it calls a tool that the request doesn't
// offer, or one with an input that its schema in the request rejects: otherwise a test could pass
// although the tool is gone. [Unfit] is for steps that mean this. A schema that can't be applied is
// not checked.
func Script(steps ...Step) *Model {
	m := &Model{plays: make([]play, len(steps))}
	calls := 0
	for i, s := range steps {
		m.plays[i] = compile(s, "reply-"+strconv.Itoa(i+1), &calls)
	}
	return m
}

// Stream answers with the next step.
func (m *Model) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once(func(yield func(provider.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
		p, err := m.take(req)
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		p.stream(ctx, yield)
	})
}

// WithInfo says what the model is, for tests of costs, budgets and compaction, and returns m.
// Without Prices it stays free of charge. Each model that a request may ask for is taken to be the
// same.
//
//	model := providertest.Script(…).WithInfo(provider.ModelInfo{Window: 8000,
//		Prices: &provider.Prices{Input: 2 * provider.USD, Output: 8 * provider.USD}})
func (m *Model) WithInfo(info provider.ModelInfo) *Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info = &info
	return m
}

// Info returns what [Model.WithInfo] was told. Otherwise it says that the model is free of charge,
// so that it may be called while money is limited.
func (m *Model) Info() provider.ModelInfo {
	info, _ := m.InfoOf("")
	return info
}

// InfoOf returns the same for each model that a request may ask for, with its name as the ID.
func (m *Model) InfoOf(model string) (provider.ModelInfo, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.info == nil {
		return free(model), true
	}
	info := *m.info
	if info.Prices == nil {
		info.Prices = free("").Prices
	}
	info.ID = cmp.Or(model, info.ID)
	return info, true
}

func free(model string) provider.ModelInfo {
	return provider.ModelInfo{ID: model, Prices: &provider.Prices{Source: "it runs in the program itself"}}
}

// EndsWithContext returns true: every step ends with its context, those that hang, too.
func (m *Model) EndsWithContext() bool { return true }

// Rewind makes the script start over and forgets the requests, for a benchmark that runs the same
// script many times.
func (m *Model) Rewind() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next, m.wrong = 0, nil
	clear(m.requests)
	m.requests = m.requests[:0]
}

// Requests returns copies of the requests so far, in the order in which their calls began, those
// beyond the script too.
func (m *Model) Requests() []*provider.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]*provider.Request, len(m.requests))
	for i, r := range m.requests {
		out[i] = r.Clone()
	}
	return out
}

func (m *Model) take(req *provider.Request) (*play, error) {
	if req == nil {
		return nil, provider.ErrNilRequest
	}
	seen := req.Clone()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, seen)
	m.next++
	if m.next <= len(m.plays) {
		if err := m.fits(m.next, seen); err != nil {
			m.wrong = cmp.Or(m.wrong, err)
			return nil, err
		}
		return &m.plays[m.next-1], nil
	}
	return nil, &provider.Error{
		Class:    fault.Permanent,
		Provider: name,
		Message: fmt.Sprintf("the script has %s, and this is call %d; its newest user text is %q",
			count(len(m.plays), "step"), m.next, shorten(req.LastUserText(), 120)),
	}
}

// A play is a step made ready, so that streaming it allocates nothing.
type play struct {
	chunks []provider.Chunk // all that is streamed
	calls  []scriptedCall   // those that must fit the request
	ending ending
	err    error
	delay  time.Duration
	waits  []gate
}

// compile makes s ready. calls counts the calls of the script, for their ids.
func compile(s Step, id string, calls *int) play {
	p := play{calls: s.callsToFit(), ending: s.ending, err: s.err, delay: s.delay}
	whole := len(s.content) > 0 &&
		(s.content[0].Kind == provider.KindStart || s.content[0].Kind == provider.KindWaiting)
	if !whole {
		start := provider.Start(name)
		start.ID = id
		p.chunks = append(p.chunks, start)
	}
	stop := provider.StopDone
	for _, c := range s.content {
		if c.Kind == provider.KindToolStart {
			*calls++
			stop = provider.StopToolCalls
			if c.ID == ownID {
				c.ID = "call-" + strconv.Itoa(*calls)
			}
		}
		p.chunks = append(p.chunks, c)
	}
	for _, w := range s.waits {
		if w.at > 0 && !whole {
			w.at++ // the Start is before it
		}
		p.waits = append(p.waits, w)
	}
	if s.ending != complete {
		p.chunks = p.chunks[:min(s.after, len(p.chunks))]
		return p
	}
	if whole {
		return p
	}
	if s.stop != "" {
		stop = s.stop
	}
	usage := usageOf(s.content)
	if s.usage != nil {
		usage = *s.usage
	}
	p.chunks = append(p.chunks, provider.End(stop, usage))
	return p
}

func (p *play) stream(ctx context.Context, yield func(provider.Chunk, error) bool) {
	var timer *time.Timer
	if p.delay > 0 {
		timer = time.NewTimer(p.delay)
		defer timer.Stop()
	}
	waits := p.waits
	for i := range len(p.chunks) + 1 {
		for ; len(waits) > 0 && waits[0].at == i; waits = waits[1:] {
			select {
			case <-waits[0].ready:
			case <-ctx.Done():
				yield(provider.Chunk{}, context.Cause(ctx))
				return
			}
			if timer != nil {
				timer.Reset(p.delay)
			}
		}
		if i == len(p.chunks) {
			break
		}
		if err := p.pause(ctx, timer); err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		if !yield(p.chunks[i], nil) {
			return
		}
	}
	switch p.ending {
	case failed:
		err := p.pause(ctx, timer)
		if err == nil {
			err = p.err
		}
		yield(provider.Chunk{}, err)
	case hung:
		<-ctx.Done()
		yield(provider.Chunk{}, context.Cause(ctx))
	}
}

// pause waits for the delay, if there is one, and returns the cause once ctx is done.
func (p *play) pause(ctx context.Context, timer *time.Timer) error {
	if timer != nil {
		select {
		case <-timer.C:
			timer.Reset(p.delay)
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// usageOf makes up a usage that fits the content.
func usageOf(content []provider.Chunk) provider.Usage {
	var all, reasoning int
	for i := range content {
		all += len(content[i].Text)
		if content[i].Kind == provider.KindReasoning {
			reasoning += len(content[i].Text)
		}
	}
	tokens := func(size int) int64 { return int64((size + 3) / 4) }
	return provider.Usage{Input: 10, Output: tokens(all), Reasoning: tokens(reasoning)}
}
