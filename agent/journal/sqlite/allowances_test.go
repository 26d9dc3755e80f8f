package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/allowancetest"
)

func TestAllowancesKeepTheContract(t *testing.T) {
	allowancetest.Run(t, func(t *testing.T) ratelimit.AllowanceStore {
		s := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{Durability: sqlite.Process})
		return s.Allowances("runs")
	})
}

func TestTwoProcessesAdmitWhatOneWould(t *testing.T) {
	const most = 60
	path := filepath.Join(t.TempDir(), "runs.db")
	a, b := roletest.Start(t, "take", path, strconv.Itoa(most)), roletest.Start(t, "take", path, strconv.Itoa(most))
	roletest.Together(t, a, b)
	require.Equal(t, most, roletest.Sum(t, a, b))
}

// takeFrom is the role of a process that takes all it gets.
func takeFrom(args []string) error {
	s, err := sqlite.Open(args[0], sqlite.Config{Durability: sqlite.Process})
	if err != nil {
		return err
	}
	defer s.Close()
	return takeAll(s, args[1])
}

// takeAll takes from an allowance with two limits of most takes in 8 goroutines, until each of them
// is refused, and says how many takes it got. It begins with the others.
func takeAll(s *sqlite.Store, most string) error {
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

func TestAllowancesOfDifferentNamesAreApart(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	for _, name := range []string{"a", "b", "b"} {
		allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1, Store: s.Allowances(name)})
		status, err := allowance.Status(t.Context(), "ann")
		require.NoError(t, err)
		if status[0].Remaining > 0 {
			_, err = allowance.Take(t.Context(), "ann")
			require.NoError(t, err)
			continue
		}
		require.Equal(t, "b", name, "the second time")
	}
}

func TestAllowancesWithInvalidNamesAndKeysAreRejected(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	for _, name := range []string{"", "a\x00", "\xff", strings.Repeat("a", journal.MaxName+1)} {
		_, err := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1, Store: s.Allowances(name)}).
			Take(t.Context(), "ann")
		var invalid *journal.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "name of allowances", invalid.Field)
	}
	err := s.Allowances("a").Update(t.Context(), strings.Repeat("a", 513),
		func(s ratelimit.AllowanceState, _ time.Time) (ratelimit.AllowanceState, error) { return s, nil })
	require.ErrorIs(t, err, ratelimit.ErrAllowanceKey)
}

func TestKeysWhoseTakesCountNoMoreAreDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path, sqlite.Config{Durability: sqlite.Process}).Allowances("runs")
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
	require.NoError(t, raw(t, path).QueryRow("SELECT count(*) FROM pawl_allowances").Scan(&keys))
	require.Equal(t, 5, keys)
}

func TestTheAllowancesThatAreChosenAreDropped(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
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
