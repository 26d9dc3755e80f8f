package circuit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

var schedules = flag.Int("schedules", 150, "random schedules that the breaker is compared with its model on")

// A model is a simple breaker: it keeps everything and searches it each time.
type model struct {
	cfg     circuit.Config
	state   circuit.State
	period  int    // one for each stay in a state
	results []bool // of this stay in the closed state, true for a failure
	until   time.Time
	probes  map[int]time.Time // of this stay in the half-open state, until when
	passed  int
	told    []step
}

// A step is a change of state without its time.
type step struct {
	from, to circuit.State
	why      circuit.Reason
}

func (m *model) goTo(s circuit.State, why circuit.Reason) {
	if m.state != s {
		m.told = append(m.told, step{m.state, s, why})
	}
	m.state, m.results, m.probes, m.passed = s, nil, map[int]time.Time{}, 0
	m.period++
}

func (m *model) at(now time.Time) {
	if m.state == circuit.HalfOpen {
		var first time.Time
		for _, expires := range m.probes {
			if first.IsZero() || expires.Before(first) {
				first = expires
			}
		}
		if !first.IsZero() && !first.After(now) {
			m.until = first.Add(m.cfg.Cooldown)
			m.goTo(circuit.Open, circuit.ProbeExpired)
		}
	}
	if m.state == circuit.Open && !m.until.After(now) {
		m.goTo(circuit.HalfOpen, circuit.CooldownOver)
	}
}

func (m *model) refuses() bool {
	return m.state == circuit.Open || m.state == circuit.HalfOpen && len(m.probes) >= m.cfg.ClosesAfter
}

func (m *model) result(now time.Time, id int, failed bool) {
	trip := func(why circuit.Reason) {
		m.until = now.Add(m.cfg.Cooldown)
		m.goTo(circuit.Open, why)
	}
	if m.state == circuit.HalfOpen {
		if _, on := m.probes[id]; !on {
			return
		}
		delete(m.probes, id)
		if failed {
			trip(circuit.ProbeFailed)
		} else if m.passed++; m.passed == m.cfg.ClosesAfter {
			m.goTo(circuit.Closed, circuit.ProbesPassed)
		}
		return
	}
	m.results = append(m.results, failed)
	if !failed {
		return
	}
	if m.inARow() >= m.cfg.Consecutive {
		trip(circuit.Consecutive)
		return
	}
	if len(m.results) >= m.cfg.Window && float64(m.failures())/float64(m.cfg.Window) >= m.cfg.Rate {
		trip(circuit.FailureRate)
	}
}

func (m *model) inARow() int {
	n := 0
	for i := len(m.results) - 1; i >= 0 && m.results[i]; i-- {
		n++
	}
	return n
}

func (m *model) failures() int {
	n := 0
	for _, failed := range m.results[max(0, len(m.results)-m.cfg.Window):] {
		if failed {
			n++
		}
	}
	return n
}

// A held is a permit, and the model's state of it.
type held struct {
	circuit.Permit
	id, period int
}

// harmless are results that count as neither a success nor a failure.
var harmless = []error{
	context.Canceled,
	fmt.Errorf("call: %w", context.Canceled),
	fault.New(fault.None, "preempted"),
	fault.New(fault.RateLimited, "429"),
	fault.New(fault.UserFixable, "401"),
	fault.New(fault.Permanent, "400"),
	fault.New(fault.Invalid, "no such field"),
	fault.New(fault.NotFound, "404"),
	fault.New(fault.Denied, "not yours"),
	fs.ErrNotExist,
	errors.ErrUnsupported,
}

var failures = []error{
	context.DeadlineExceeded,
	fault.New(fault.Transient, "reset"),
	fault.New(fault.Degraded, "503"),
	fault.New(fault.Class(99), "no class"),
	errors.New("unknown"),
}

func TestABreakerMatchesItsModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	reached := make(map[circuit.Reason]int)
	for i := range *schedules {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		synctest.Test(t, func(t *testing.T) {
			for _, s := range schedule(t, r) {
				reached[s.why]++
			}
		})
		if t.Failed() {
			t.Fatalf("schedule %d of seed %d", i, seed)
		}
	}
	for _, why := range []circuit.Reason{
		circuit.Consecutive, circuit.FailureRate, circuit.CooldownOver, circuit.ProbesPassed, circuit.ProbeFailed,
		circuit.ProbeExpired, circuit.ByHand,
	} {
		require.Positive(t, reached[why], why)
	}
}

// schedule makes random calls of a breaker and of its model, and returns the changes.
func schedule(t *testing.T, r *rand.Rand) []step {
	var told []step
	cfg := circuit.Config{
		Consecutive: 1 + r.IntN(6), Rate: []float64{.1, .3, .4, .5, 1}[r.IntN(5)], Window: 1 + r.IntN(12),
		Cooldown: time.Duration(1+r.IntN(20)) * time.Second, ClosesAfter: 1 + r.IntN(4),
		ProbeTimeout: time.Duration(1+r.IntN(20)) * time.Second,
		OnChange: func(c circuit.Change) {
			told = append(told, step{c.From, c.To, c.Reason})
		},
	}
	b, m := circuit.New("b", cfg), &model{cfg: cfg}
	var permits []held
	bad := r.Float64() // how often a call fails here
	for id := range 300 {
		now := time.Now()
		switch n := r.IntN(100); {
		case n < 40:
			m.at(now)
			require.Equal(t, m.refuses(), b.Ready() != nil)
			p, err := b.Allow()
			require.Equal(t, m.refuses(), err != nil)
			if err != nil {
				var open *circuit.OpenError
				require.ErrorAs(t, err, &open)
				if m.state == circuit.Open {
					require.Equal(t, m.until.Sub(now), open.RetryAfter)
				} else {
					require.Zero(t, open.RetryAfter)
				}
				break
			}
			permits = append(permits, held{p, id, m.period})
			if m.state == circuit.HalfOpen {
				m.probes[id] = now.Add(cfg.ProbeTimeout)
			}
		case n < 85 && len(permits) > 0:
			i := r.IntN(len(permits))
			if r.IntN(2) == 0 {
				i = len(permits) - 1
			}
			p := permits[i]
			// A probe may be ended twice; a call through a closed breaker must not.
			m.at(now)
			if m.state == circuit.Closed || p.period != m.period || r.IntN(4) > 0 {
				permits = slices.Delete(permits, i, i+1)
			}
			var err error
			switch {
			case r.IntN(5) == 0:
				err = harmless[r.IntN(len(harmless))]
				if p.period == m.period {
					delete(m.probes, p.id)
				}
			case r.Float64() < bad:
				err = failures[r.IntN(len(failures))]
				fallthrough
			default:
				if p.period == m.period {
					m.result(now, p.id, err != nil)
				}
			}
			p.Done(err)
		case n < 97:
			<-time.After(time.Duration(1+r.IntN(4000)) * time.Millisecond)
		case n < 98:
			m.at(now)
			m.goTo(circuit.Closed, circuit.ByHand)
			b.Reset()
		default:
			bad = r.Float64()
		}
		if r.IntN(3) > 0 {
			continue // no call, so that due changes are made later
		}
		m.at(time.Now())
		require.Equal(t, m.state, b.State())
		s := b.Snapshot()
		require.Equal(t, min(len(m.results), cfg.Window), s.Results)
		require.Equal(t, m.failures(), s.Failures)
		require.Equal(t, m.inARow(), s.InARow)
		require.Equal(t, len(m.probes), s.Probes)
		require.Equal(t, m.passed, s.Passed)
		require.Equal(t, m.told, told)
	}
	return told
}
