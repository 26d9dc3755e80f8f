package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/allowancetest"
)

func TestAllowancesKeepTheContract(t *testing.T) {
	pgtest.DSN(t)
	allowancetest.Run(t, func(t *testing.T) ratelimit.AllowanceStore { return open(t, empty(t)).Allowances("runs") })
}

func TestTwoProcessesAdmitWhatOneWould(t *testing.T) {
	const most = 60
	cfg := empty(t)
	var takers []*roletest.Process
	for range 2 {
		takers = append(takers, roletest.Start(t, "take", cfg.DSN, cfg.Schema, strconv.Itoa(most)))
	}
	roletest.Together(t, takers...)
	require.Equal(t, most, roletest.Sum(t, takers...))
}

// takeFrom is the role of a process that takes all it gets.
func takeFrom(args []string) error {
	s, err := postgres.Open(context.Background(), postgres.Config{DSN: args[0], Schema: args[1]})
	if err != nil {
		return err
	}
	defer s.Close()
	return takeAll(s, args[2])
}

// takeAll takes from an allowance with two limits of most takes in 8 goroutines, until each of them
// is refused, and says how many takes it got. It begins with the others.
func takeAll(s *postgres.Store, most string) error {
	limit, err := strconv.Atoi(most)
	if err != nil {
		return err
	}
	allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{Concurrent: limit,
		Windows: []ratelimit.AllowanceWindow{{Max: limit, Per: time.Hour}}, Store: s.Allowances("runs")})
	roletest.Ready()
	var (
		all   sync.WaitGroup
		taken atomic.Int64
		ends  = make([]error, 8)
	)
	for i := range ends {
		all.Go(func() {
			for ends[i] == nil {
				if _, ends[i] = allowance.Take(context.Background(), "ann"); ends[i] == nil {
					taken.Add(1)
				}
			}
		})
	}
	all.Wait()
	for _, err := range ends {
		if !errors.As(err, new(*ratelimit.AllowanceError)) {
			return err
		}
	}
	fmt.Println(taken.Load())
	return nil
}

// The clock of the process shows the year 2000 here.
func TestAllowancesUseTheServersClock(t *testing.T) {
	cfg := empty(t)
	real := time.Now()
	synctest.Test(t, func(t *testing.T) {
		s, err := postgres.Open(t.Context(), cfg)
		require.NoError(t, err)
		defer s.Close()
		allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 1, Per: time.Hour}}, Store: s.Allowances("runs")})
		_, err = allowance.Take(t.Context(), "ann")
		require.NoError(t, err)
		status, err := allowance.Status(t.Context(), "ann")
		require.NoError(t, err)
		require.WithinDuration(t, real.Add(time.Hour), status[0].Reset, 5*time.Minute)
		require.LessOrEqual(t, status[0].Wait, time.Hour)
	})
}

func TestKeysWhoseTakesCountNoMoreAreDeleted(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	store := s.Allowances("runs")
	put := func(key string, idle time.Duration) {
		require.NoError(t, store.Update(t.Context(), key,
			func(_ ratelimit.AllowanceState, now time.Time) (ratelimit.AllowanceState, error) {
				return ratelimit.AllowanceState{Today: 1, Idle: now.Add(idle).UnixNano()}, nil
			}))
	}
	for i := range 10 {
		put(fmt.Sprint("used ", i), time.Hour)
	}
	for i := range 10 {
		put(fmt.Sprint("used ", i), -2*time.Hour) // which is as if that time had passed
	}
	for i := range 5 {
		put(fmt.Sprint("new ", i), time.Hour)
	}
	var keys int
	require.NoError(t, postgres.Pool(s).QueryRow(`SELECT count(*) FROM "`+cfg.Schema+`".allowances`).Scan(&keys))
	require.Equal(t, 5, keys)
}

func TestTheAllowancesThatAreChosenAreDropped(t *testing.T) {
	store := open(t, empty(t))
	for _, name := range []string{"runs", "mails"} {
		for _, key := range []string{"ann", "ben"} {
			a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1, Store: store.Allowances(name)})
			_, err := a.Take(t.Context(), key)
			require.NoError(t, err)
		}
	}
	for _, want := range []int{1, 0} {
		n, err := store.DropAllowances(t.Context(),
			func(name, key string) bool { return name == "runs" && key == "ann" })
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	var left []string
	n, err := store.DropAllowances(t.Context(), func(name, key string) bool {
		left = append(left, name+" "+key)
		return false
	})
	require.NoError(t, err)
	require.Zero(t, n)
	require.ElementsMatch(t, []string{"mails ann", "mails ben", "runs ben"}, left)
}
