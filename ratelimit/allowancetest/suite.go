package allowancetest

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlkit/pawl/ratelimit"
)

// Run runs the suite. It calls open for each check.
func Run(t *testing.T, open func(t *testing.T) ratelimit.AllowanceStore) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, ratelimit.AllowanceStore)
	}{
		{"an unknown key has the zero state", unknownKey},
		{"a state comes back as it was stored", sameState},
		{"keys are apart", keysApart},
		{"changes get the time of a clock that runs", clockRuns},
		{"an error stores nothing and is returned", errorStoresNothing},
		{"updates at the same time are one after the other", updatesInTurn},
		{"an allowance over the store is exact", exactAllowance},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// never is later than any test.
const never = math.MaxInt64

func full() ratelimit.AllowanceState {
	return ratelimit.AllowanceState{
		Last: 1_795_000_000_123_456_789, Idle: never,
		Takes: []int64{1_794_000_000_000_000_001, 1_795_000_000_123_456_789}, Today: 2,
		DayEnds: 1_795_100_000_000_000_000,
		Open:    []ratelimit.AllowanceOpen{{ID: "a \"quoted\" id", Until: 1_795_000_003_000_000_000}},
	}
}

func unknownKey(t *testing.T, s ratelimit.AllowanceStore) {
	if got := load(t, s, "nobody"); !reflect.DeepEqual(got, ratelimit.AllowanceState{}) {
		t.Errorf("the state of an unknown key is %+v", got)
	}
}

func sameState(t *testing.T, s ratelimit.AllowanceStore) {
	key := strings.Repeat("é/'\";-- ", 50)
	store(t, s, key, full())
	if got := load(t, s, key); !reflect.DeepEqual(got, full()) {
		t.Errorf("%+v was stored as %+v", full(), got)
	}
	less := full()
	less.Takes, less.Open, less.Today = less.Takes[1:], nil, 0
	store(t, s, key, less)
	if got := load(t, s, key); !reflect.DeepEqual(got, less) {
		t.Errorf("%+v was stored as %+v over another state", less, got)
	}
}

func keysApart(t *testing.T, s ratelimit.AllowanceStore) {
	keys := []string{"", "a", "A", "a ", "á", "a%", "a_", "\x00", "a\x00", "\xff"}
	for i, key := range keys {
		store(t, s, key, ratelimit.AllowanceState{Idle: never, Today: i + 1})
	}
	for i, key := range keys {
		if got := load(t, s, key); got.Today != i+1 {
			t.Errorf("the key %q has the state of another", key)
		}
	}
}

func clockRuns(t *testing.T, s ratelimit.AllowanceStore) {
	var last time.Time
	for range 5 {
		err := s.Update(context.Background(), "a",
			func(s ratelimit.AllowanceState, now time.Time) (ratelimit.AllowanceState, error) {
				if now.Before(last) || time.Until(now).Abs() > 24*time.Hour {
					t.Errorf("the time of a change is %v, and that of the one before %v", now, last)
				}
				last = now
				return ratelimit.AllowanceState{Idle: never}, nil
			})
		if err != nil {
			t.Fatalf("Update: %v", err)
		}
	}
}

func errorStoresNothing(t *testing.T, s ratelimit.AllowanceStore) {
	store(t, s, "a", full())
	mistake := errors.New("allowancetest: no")
	for _, key := range []string{"a", "b"} {
		err := s.Update(context.Background(), key,
			func(ratelimit.AllowanceState, time.Time) (ratelimit.AllowanceState, error) {
				return ratelimit.AllowanceState{Idle: never, Today: 77}, mistake
			})
		if !errors.Is(err, mistake) {
			t.Errorf("Update returned %v, and not the error of change", err)
		}
	}
	if got := load(t, s, "a"); !reflect.DeepEqual(got, full()) {
		t.Errorf("a change that returned an error left %+v", got)
	}
	if got := load(t, s, "b"); got.Today != 0 {
		t.Errorf("a change that returned an error made a key")
	}
}

func updatesInTurn(t *testing.T, s ratelimit.AllowanceStore) {
	const goroutines, each = 10, 20
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				err := s.Update(context.Background(), "a",
					func(s ratelimit.AllowanceState, _ time.Time) (ratelimit.AllowanceState, error) {
						s.Today++
						s.Idle = never
						return s, nil
					})
				if err != nil {
					t.Errorf("Update: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := load(t, s, "a").Today; got != goroutines*each {
		t.Errorf("%d updates counted to %d", goroutines*each, got)
	}
}

func exactAllowance(t *testing.T, s ratelimit.AllowanceStore) {
	const most = 25
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{Concurrent: most, Store: s})
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		releases []func()
	)
	for range 4 * most {
		wg.Go(func() {
			release, err := a.Take(context.Background(), "a")
			var refused *ratelimit.AllowanceError
			if err != nil && !errors.As(err, &refused) {
				t.Errorf("Take: %v", err)
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				releases = append(releases, release)
			}
		})
	}
	wg.Wait()
	if len(releases) != most {
		t.Errorf("%d were taken at the same time, and not %d", len(releases), most)
	}
	for _, release := range releases {
		wg.Go(release)
	}
	wg.Wait()
	if got := load(t, s, "a"); len(got.Open) > 0 {
		t.Errorf("%d takes are open after they were released", len(got.Open))
	}
}

func store(t *testing.T, s ratelimit.AllowanceStore, key string, state ratelimit.AllowanceState) {
	t.Helper()
	err := s.Update(context.Background(), key,
		func(ratelimit.AllowanceState, time.Time) (ratelimit.AllowanceState, error) { return state, nil })
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func load(t *testing.T, s ratelimit.AllowanceStore, key string) ratelimit.AllowanceState {
	t.Helper()
	var got ratelimit.AllowanceState
	looked := errors.New("allowancetest: only a look")
	err := s.Update(context.Background(), key,
		func(s ratelimit.AllowanceState, _ time.Time) (ratelimit.AllowanceState, error) {
			got = s
			return s, looked
		})
	if !errors.Is(err, looked) {
		t.Fatalf("Update returned %v, and not the error of change", err)
	}
	if len(got.Takes) == 0 {
		got.Takes = nil
	}
	if len(got.Open) == 0 {
		got.Open = nil
	}
	return got
}
