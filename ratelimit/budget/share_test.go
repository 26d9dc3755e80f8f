package budget_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

// TestSharesAreWhatAPlainCountGives makes random calls and pauses, and computes every share again
// from the calls of each session.
func TestSharesAreWhatAPlainCountGives(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) { sharing(t, rand.New(rand.NewPCG(seed, 3))) })
	}
}

func sharing(t *testing.T, rng *rand.Rand) {
	const limit, active = 1000, 10 * time.Minute
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: limit, Period: budget.Day}, FairShare: true, Keep: 100})
	type sessionCount struct {
		spent, held int64
		open        int
		asked       bool
		last        time.Time
	}
	type call struct {
		res     *budget.Reservation
		session int
		tokens  int64
	}
	var sessions [5]sessionCount
	var calls []call
	var others int64 // of calls without a session
	day := time.Now().YearDay()
	for range 120 {
		i := rng.IntN(len(sessions))
		s, labels := &sessions[i], session(fmt.Sprint(i))
		switch op := rng.IntN(100); {
		case op < 40:
			n := rng.Int64N(150)
			ctx, cancel := context.WithCancel(context.Background())
			r, err := b.Reserve(ctx, budget.ReserveRequest{Names: labels, Tokens: n, OnWait: func(int) { cancel() }})
			if s.asked, s.last = true, time.Now(); err == nil {
				s.open, s.held = s.open+1, s.held+n
				calls = append(calls, call{r, i, n})
			}
			cancel()
		case op < 75 && len(calls) > 0:
			at := rng.IntN(len(calls))
			c := calls[at]
			calls = slices.Delete(calls, at, at+1)
			used := rng.Int64N(c.tokens + 5)
			c.res.Settle(used, 0)
			s := &sessions[c.session]
			s.open, s.held, s.spent, s.last = s.open-1, s.held-c.tokens, s.spent+used, time.Now()
		case op < 80:
			b.Seed(labels, 5, 0) // makes no session active
			s.spent += 5
		case op < 83:
			b.Seed(budget.Names{}, 7, 0)
			others += 7
		case op >= 97:
			<-time.After(time.Duration(rng.IntN(15)) * time.Hour)
		default:
			<-time.After(time.Duration(rng.IntN(6)) * time.Minute)
		}
		if now := time.Now().YearDay(); now != day {
			day, others = now, 0
			for i := range sessions {
				sessions[i].spent = 0
			}
		}
		for i := range sessions {
			gone, n := others, int64(0)
			for j, s := range sessions {
				if i == j || s.open > 0 || s.asked && time.Since(s.last) < active {
					n++
				} else {
					gone += s.spent
				}
			}
			share := b.Status(budget.ScopeShare, fmt.Sprint(i))
			require.Equal(t, max(limit-gone, 0)/n, share.Limit.Tokens)
			require.Equal(t, sessions[i].spent, share.Spent.Tokens)
			require.Equal(t, sessions[i].held, share.Reserved.Tokens)
		}
		total := b.Status(budget.ScopeGlobal, "")
		require.LessOrEqual(t, total.Reserved.Tokens, int64(limit))
	}
	for _, c := range calls {
		c.res.Settle(0, 0)
	}
}
