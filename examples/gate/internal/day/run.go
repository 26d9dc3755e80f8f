package day

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Every is the time between two ticks.
const Every = 5 * time.Minute

// A path sends the calls of a side to the providers.
type path interface {
	call(ctx context.Context, c *Call, onChunk func(provider.Chunk)) error
	models() (primary, backup *Model)
	look(*SideTick)
	close(*SideReport)
}

// A side is one of the two that are compared.
type side struct {
	path
	plan  *Plan
	limit provider.Money
	born  time.Time

	mu sync.Mutex // guards what follows
	SideReport
	waiting map[int]time.Duration // people who haven't heard a word, by call: since when
	ended   []time.Duration       // of each call, by id
}

// Run simulates the day: all calls arrive at their times, on both sides. Run returns when the day
// is over and the last call has ended. onTick, if it isn't nil, is called every five minutes of the
// day; the simulation continues when it returns.
func (p *Plan) Run(onTick func(Tick)) (*Report, error) {
	w, err := newPawl(p)
	if err != nil {
		return nil, err
	}
	sides := [2]*side{p.side(Pawl, w, provider.Money(p.Limit.USD*float64(provider.USD))), p.side(FIFO, newFIFO(p), 0)}
	begin := time.Now()
	over := make(chan struct{})
	var calls, ticks sync.WaitGroup
	if onTick != nil {
		ticks.Go(func() { p.tick(begin, over, sides, onTick) })
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		pass(context.Background(), time.Until(begin.Add(c.At)))
		for _, s := range sides {
			s.asked(c)
			calls.Go(func() { s.live(c) })
		}
	}
	calls.Wait()
	pass(context.Background(), time.Until(begin.Add(p.Length+time.Millisecond))) // a quiet end has its tick, too
	close(over)
	ticks.Wait()
	return &Report{Plan: p, Sides: [2]*SideReport{sides[0].report(), sides[1].report()}}, nil
}

func (p *Plan) side(name string, way path, limit provider.Money) *side {
	s := &side{path: way, plan: p, limit: limit, born: time.Now(),
		waiting: make(map[int]time.Duration), ended: make([]time.Duration, len(p.Calls))}
	s.Name, s.Lanes = name, make(map[string]*Lane)
	for _, task := range []string{Chat, Work, Reindex, Audit} {
		s.Lanes[task] = &Lane{Refused: make(map[string]int)}
	}
	return s
}

func (p *Plan) tick(begin time.Time, over <-chan struct{}, sides [2]*side, onTick func(Tick)) {
	every := time.NewTicker(Every)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-over:
			return
		}
		at := time.Since(begin)
		t := Tick{At: at, Clock: p.Clock(at), Sides: [2]SideTick{sides[0].now(at), sides[1].now(at)}}
		t.Goes = p.goes(&t)
		onTick(t)
	}
}

func (p *Plan) goes(t *Tick) (names []string) {
	if t.Sides[0].FloodLeft+t.Sides[1].FloodLeft > 0 {
		names = append(names, GoesFlood)
	}
	if p.Squeeze.Holds(t.At) {
		names = append(names, GoesSqueeze)
	}
	if p.Outage.Holds(t.At) {
		names = append(names, GoesOutage)
	}
	return names
}

func (s *side) asked(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Lanes[c.Task].Asked++
	if c.Person {
		s.waiting[c.ID] = c.At
	}
}

// live makes one call and records its outcome.
func (s *side) live(c *Call) {
	came := time.Now()
	var heard time.Time // the first word
	err := s.call(context.Background(), c, func(chunk provider.Chunk) {
		switch {
		case chunk.Kind == provider.KindReset:
			s.withdraw(c)
			heard = time.Time{}
		case chunk.Kind == provider.KindText && heard.IsZero():
			heard = time.Now()
			s.firstWord(c)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[c.ID-1] = time.Since(s.born)
	lane := s.Lanes[c.Task]
	delete(s.waiting, c.ID)
	if err != nil {
		lane.Refused[Reason(err)]++
		return
	}
	lane.Done++
	lane.Waits = append(lane.Waits, Sample{At: c.At, Wait: heard.Sub(came)})
}

// firstWord records that the first word of an answer has arrived, and withdraw that it no longer
// counts.
func (s *side) firstWord(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, c.ID)
}

func (s *side) withdraw(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Resets++
	if c.Person {
		s.waiting[c.ID] = c.At
	}
}

// listen passes all chunks of an answer to onChunk, and returns the error that it ends with.
func listen(seq iter.Seq2[provider.Chunk, error], onChunk func(provider.Chunk)) error {
	for chunk, err := range seq {
		if err != nil {
			return err
		}
		onChunk(chunk)
	}
	return nil
}

// The reasons why a call has no answer. Untyped is an error without a class, which shouldn't occur.
const (
	ReasonBudget = "budget"
	ReasonQueue  = "queue full"
	ReasonGaveUp = "gave up"
	Untyped      = "untyped"
)

// Reason returns why a call has no answer, in a word.
func Reason(err error) string {
	var (
		full   *ratelimit.QueueFullError
		gaveUp *guard.GaveUpError
		chain  *guard.FailoverError
		failed *provider.Error
	)
	switch {
	case errors.Is(err, budget.ErrExceeded):
		return ReasonBudget
	case errors.As(err, &full):
		return ReasonQueue
	case errors.As(err, &gaveUp), errors.As(err, &chain), errors.As(err, &failed) && fault.Retryable(failed.Class):
		return ReasonGaveUp
	}
	return Untyped
}

// now returns the current state.
func (s *side) now(at time.Duration) SideTick {
	s.mu.Lock()
	t := SideTick{Name: s.Name, Waiting: len(s.waiting), Limit: s.limit}
	for task, lane := range s.Lanes {
		ended := lane.Done + lane.NoAnswer()
		if task == Chat {
			t.Asked, t.Done = lane.Asked, lane.Done
		} else {
			t.WorkDone += ended
			t.WorkLeft += lane.Asked - ended
			if task == Reindex {
				t.FloodLeft = lane.Asked - ended
			}
		}
	}
	recent := slices.Clip(s.Lanes[Chat].Waits)
	for _, since := range s.waiting { // who still waits has waited so long
		recent = append(recent, Sample{At: since, Wait: at - since})
	}
	recent = recent.In(Span{at - time.Hour, at})
	s.mu.Unlock()
	t.P50, t.P99, t.Longest = recent.P(.5), recent.P(.99), recent.Max()
	primary, backup := s.models()
	t.Spent = primary.Counts().Billed + backup.Counts().Billed
	s.look(&t)
	return t
}

func (s *side) report() *SideReport {
	r := &s.SideReport
	s.close(r)
	primary, backup := s.models()
	r.Primary, r.Backup = primary.Counts(), backup.Counts()
	r.Ended = slices.Max(s.ended)
	for _, flood := range s.plan.Floods {
		last := flood.From
		for i := range s.plan.Calls {
			if c := &s.plan.Calls[i]; c.Task == Reindex && flood.Holds(c.At) {
				last = max(last, s.ended[i])
			}
		}
		r.Clear = append(r.Clear, last-flood.From)
	}
	return r
}
