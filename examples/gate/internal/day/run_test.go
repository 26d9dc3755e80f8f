package day

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// live lives through a short day, in virtual time.
func live(t *testing.T, cfg Config, onTick func(Tick)) (r *Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, err = NewPlan(cfg).Run(onTick)
		require.NoError(t, err)
	})
	return r
}

// short is a day of two hours, with all that a long one has.
func short(seed uint64) Config { return Config{Seed: seed, Sessions: 16, Hours: 2} }

func TestADayKeepsItsPromises(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := live(t, short(seed), nil)
			pawl, fifo := r.Sides[0], r.Sides[1]

			for _, s := range r.Sides { // no call is lost, on either side
				asked := 0
				for task, l := range s.Lanes {
					require.Equal(t, l.Asked, l.Done+l.NoAnswer(), "%s: %s", s.Name, task)
					require.Len(t, l.Waits, l.Done)
					require.Zero(t, l.Refused[Untyped], "%s: %s", s.Name, task)
					asked += l.Asked
				}
				require.Equal(t, len(r.Plan.Calls), asked)
				require.Equal(t, s.Lanes[Chat].Asked, s.Lanes[Chat].Done, "%s: people have answers", s.Name)
				require.Zero(t, s.Primary.Running+s.Backup.Running)
			}

			// people wait less
			for _, q := range []float64{.5, .9, .99, 1} {
				require.LessOrEqual(t, pawl.Lanes[Chat].Waits.P(q), fifo.Lanes[Chat].Waits.P(q), "%v", q)
			}
			require.Less(t, 10*pawl.Lanes[Chat].Waits.P(.99), fifo.Lanes[Chat].Waits.P(.99))

			// what agents do goes before floods
			require.Less(t, pawl.Lanes[Work].Waits.P(.99), fifo.Lanes[Work].Waits.P(.99))
			require.Less(t, pawl.Lanes[Work].Waits.P(.9), pawl.Lanes[Reindex].Waits.P(.5))

			// no slot is exceeded but by those that were overtaken
			require.LessOrEqual(t, pawl.Primary.Most, primarySlots+pawl.Overtaken)
			require.LessOrEqual(t, pawl.Backup.Most, backupSlots+pawl.Overtaken)

			// spending keeps to the budget: no provider counts more than was reserved here
			limit := func(l budget.Limit) provider.Money { return provider.Money(l.USD*float64(provider.USD) + .5) }
			require.LessOrEqual(t, pawl.BudgetSpent, limit(r.Plan.Limit))
			require.LessOrEqual(t, pawl.AuditSpent, limit(r.Plan.AuditLimit))
			require.Zero(t, pawl.BudgetReserved)
			require.Equal(t, pawl.BudgetSpent, pawl.Booked)
			require.GreaterOrEqual(t, pawl.Booked, pawl.Billed(), "estimates are rather too high")

			// the job that runs away is stopped, and nobody else
			require.Positive(t, pawl.Lanes[Audit].Refused[ReasonBudget])
			require.Zero(t, pawl.Lanes[Work].NoAnswer()+pawl.Lanes[Reindex].NoAnswer())
			require.Zero(t, fifo.Background().NoAnswer())

			// the breaker spares the provider that fails, and the backup answers
			require.Positive(t, pawl.Opened)
			require.Positive(t, pawl.Primary.Down)
			require.Less(t, 5*pawl.Primary.Down, fifo.Primary.Down)
			require.Positive(t, pawl.Backup.Requests)
			require.Positive(t, pawl.Preempted)
			require.Positive(t, pawl.Pauses)
			require.LessOrEqual(t, pawl.Resets, pawl.Preempted)
		})
	}
}

func TestASeedMakesTheSameDayEachTime(t *testing.T) {
	first, second := live(t, short(9), nil), live(t, short(9), nil)
	for i := range first.Sides {
		for task := range first.Sides[i].Lanes {
			for _, r := range []*Report{first, second} {
				slices.SortFunc(r.Sides[i].Lanes[task].Waits, func(a, b Sample) int { return int(a.At - b.At) })
			}
		}
		require.Equal(t, first.Sides[i], second.Sides[i])
	}
}

func TestTicksTellHowTheDayGoesOn(t *testing.T) {
	var ticks []Tick
	r := live(t, short(2), func(tick Tick) { ticks = append(ticks, tick) })
	require.Len(t, ticks, int(max(r.Sides[1].Ended, r.Plan.Length)/Every))
	var seen []string
	for i, tick := range ticks {
		require.Equal(t, time.Duration(i+1)*Every, tick.At)
		seen = append(seen, tick.Goes...)
		for j, s := range tick.Sides {
			require.LessOrEqual(t, s.Done+s.Waiting, s.Asked)
			require.GreaterOrEqual(t, s.Waiting, 0)
			require.LessOrEqual(t, s.FloodLeft, s.WorkLeft)
			if i > 0 {
				require.GreaterOrEqual(t, s.Done, ticks[i-1].Sides[j].Done)
				require.GreaterOrEqual(t, s.Spent, ticks[i-1].Sides[j].Spent)
			}
		}
		require.Equal(t, r.Plan.Outage.Holds(tick.At), slices.Contains(tick.Goes, GoesOutage))
		if r.Plan.Outage.Holds(tick.At) && tick.At > r.Plan.Outage.From+time.Minute {
			require.Contains(t, tick.Sides[0].State, "primary: breaker")
		}
	}
	require.Subset(t, seen, []string{GoesFlood, GoesOutage, GoesSqueeze})
	require.Equal(t, "11:05", ticks[0].Clock)
}

func TestATickCountsThoseWhoStillWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 6})
		s := p.side("x", newFIFO(p), 0)
		s.Lanes[Chat].Waits = Waits{{At: 0, Wait: time.Hour}, {At: 2 * time.Hour, Wait: time.Second}}
		s.asked(&Call{ID: 1, At: 2*time.Hour + time.Minute, Person: true, Task: Chat})
		tick := s.now(2*time.Hour + 20*time.Minute)
		require.Equal(t, 1, tick.Waiting)
		require.Equal(t, []time.Duration{time.Second, 19 * time.Minute}, []time.Duration{tick.P50, tick.Longest})
		require.Len(t, s.Lanes[Chat].Waits, 2)
	})
}

func TestTimeStandsStillWhileATickIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := NewPlan(Config{Sessions: 2, Hours: 1}).Run(func(tick Tick) {
			require.Equal(t, tick.At, time.Since(begin))
		})
		require.NoError(t, err)
	})
}

// A played path says and does what a test wants.
type played struct {
	path
	play func(onChunk func(provider.Chunk)) error
}

func (p played) call(_ context.Context, _ *Call, onChunk func(provider.Chunk)) error {
	return p.play(onChunk)
}

func TestAWaitEndsWithTheFirstWordThatStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		c := &Call{ID: 1, At: time.Minute, Person: true, Task: Chat}
		var s *side
		waits := func(want int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			require.Len(t, s.waiting, want)
		}
		s = p.side("x", played{play: func(onChunk func(provider.Chunk)) error {
			waits(1)
			<-time.After(time.Second)
			onChunk(provider.Start("m"))
			waits(1)
			onChunk(provider.Text("a word"))
			waits(0)
			onChunk(provider.Reset("preempted"))
			waits(1)
			<-time.After(time.Second)
			onChunk(provider.Text("a word"))
			<-time.After(time.Second)
			onChunk(provider.Text("another"))
			waits(0)
			return nil
		}}, 0)
		s.asked(c)
		s.live(c)
		require.Equal(t, &Lane{Asked: 1, Done: 1, Refused: map[string]int{},
			Waits: Waits{{At: time.Minute, Wait: 2 * time.Second}}}, s.Lanes[Chat])
		require.Equal(t, 1, s.Resets)
		require.Equal(t, 3*time.Second, s.ended[0])
	})
}

func TestWhoHasNoAnswerWaitsNoMore(t *testing.T) {
	p := NewPlan(Config{Sessions: 1, Hours: 1})
	for _, says := range [][]provider.Chunk{nil, {provider.Text("a word")},
		{provider.Text("a word"), provider.Reset("")}} {
		s := p.side("x", played{play: func(onChunk func(provider.Chunk)) error {
			for _, chunk := range says {
				onChunk(chunk)
			}
			return &guard.GaveUpError{}
		}}, 0)
		c := &Call{ID: 1, Person: true, Task: Chat}
		s.asked(c)
		s.live(c)
		require.Empty(t, s.waiting)
		require.Equal(t, map[string]int{ReasonGaveUp: 1}, s.Lanes[Chat].Refused)
		require.Empty(t, s.Lanes[Chat].Waits)
	}
}

func TestWaitsByNearestRank(t *testing.T) {
	var w Waits
	require.Zero(t, w.P(.5))
	require.Zero(t, w.Max())
	for i := range 100 {
		w = append(w, Sample{At: time.Duration(i), Wait: time.Duration(100 - i)})
	}
	for q, want := range map[float64]time.Duration{0: 1, .01: 1, .5: 50, .985: 99, .99: 99, 1: 100} {
		require.Equal(t, want, w.P(q), "%v", q)
	}
	require.Len(t, w.In(Span{10, 20}), 10)
	require.Equal(t, time.Duration(100), w[0].Wait, "the order stays")
}

func TestAReasonIsTheTypeOfTheError(t *testing.T) {
	for want, err := range map[string]error{
		ReasonBudget: fmt.Errorf("x: %w", &budget.Error{}),
		ReasonQueue:  &guard.GaveUpError{Err: &ratelimit.QueueFullError{}, Class: fault.RateLimited},
		ReasonGaveUp: &guard.GaveUpError{Err: errors.New("x"), Class: fault.Degraded},
		Untyped:      errors.New("x"),
	} {
		require.Equal(t, want, Reason(err))
	}
	require.Equal(t, ReasonGaveUp, Reason(&provider.Error{Class: fault.Degraded}))
	require.Equal(t, Untyped, Reason(&provider.Error{Class: fault.Permanent}))
}
