package alarm

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bell notes when it rings.
type bell struct {
	clock *Clock
	mu    sync.Mutex
	rang  []time.Duration
	then  func()
}

func (b *bell) Ring(*Clock) {
	b.mu.Lock()
	b.rang = append(b.rang, b.clock.Now())
	then := b.then
	b.mu.Unlock()
	if then != nil {
		then()
	}
}

func (b *bell) times() []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]time.Duration(nil), b.rang...)
}

func TestEachAlarmRingsWhenItWasSetForFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		a, b, never := &bell{clock: c}, &bell{clock: c}, &bell{clock: c}
		c.Set(a, 0, 10*time.Second)
		c.Set(b, 0, 3*time.Second)
		c.Set(a, 0, 5*time.Second)
		c.Set(a, 0, 20*time.Second) // it is to be rung earlier already
		c.Set(never, 0, time.Hour)
		<-time.After(time.Minute)
		require.Equal(t, []time.Duration{5 * time.Second}, a.times())
		require.Equal(t, []time.Duration{3 * time.Second}, b.times())
		c.Stop()
		<-time.After(2 * time.Hour)
		require.Empty(t, never.times())
	})
}

func TestWhatIsDueIsRungAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		defer c.Stop()
		<-time.After(time.Second)
		b := &bell{clock: c}
		c.Set(b, c.Now(), 0)
		c.Set(b, c.Now(), -time.Hour)
		synctest.Wait()
		require.Equal(t, []time.Duration{time.Second}, b.times())
	})
}

func TestAnAlarmThatIsDueWhenAClockStartsRings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		defer c.Stop()
		b := &bell{clock: c}
		c.Set(b, c.Now(), 0)
		<-time.After(time.Microsecond)
		require.Len(t, b.times(), 1)
	})
}

func TestAnAlarmThatIsNeverDueDoesntRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		defer c.Stop()
		<-time.After(time.Second)
		b := &bell{clock: c}
		c.Set(b, c.Now(), math.MaxInt64)
		<-time.After(time.Hour)
		require.Empty(t, b.times())
		require.True(t, c.Running())
	})
}

func TestAClockGoesOnAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		defer c.Stop()
		b := &bell{clock: c}
		c.Set(b, 0, time.Minute)
		c.Stop()
		c.Stop()
		require.False(t, c.Running())
		c.Set(b, 0, 2*time.Minute) // later than what was forgotten
		require.True(t, c.Running())
		<-time.After(time.Hour)
		require.Equal(t, []time.Duration{2 * time.Minute}, b.times())
		require.False(t, c.Running())
	})
}

// TestAClockThatIsClosedStaysSilent: whoever is rung while it is closed sets another alarm as ever.
func TestAClockThatIsClosedStaysSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		b := &bell{clock: c}
		b.then = func() {
			<-time.After(time.Second)
			c.Set(b, c.Now(), time.Second)
		}
		c.Set(b, 0, time.Second)
		<-time.After(time.Second)
		synctest.Wait()
		c.Close()
		c.Stop()
		c.fire() // of a timer that had fired just before
		<-time.After(time.Hour)
		require.Equal(t, []time.Duration{time.Second}, b.times())
		require.False(t, c.Running())
	})
}

// TestOneThatTakesItsTimeDelaysNoOther: three alarms at the same time, and the first to ring waits for the others.
func TestOneThatTakesItsTimeDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		defer c.Stop()
		var all sync.WaitGroup
		all.Add(5)
		for range 5 { // more than a Clock has room for without another allocation
			b := &bell{clock: c}
			b.then = func() {
				all.Done()
				all.Wait()
			}
			c.Set(b, 0, time.Second)
		}
		all.Wait()
		require.Equal(t, time.Second, c.Now())
	})
}

func TestWhoIsRungMaySetAnotherAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		defer c.Stop()
		b := &bell{clock: c}
		b.then = func() { c.Set(b, c.Now(), time.Second) }
		c.Set(b, 0, time.Second)
		<-time.After(4*time.Second + 1)
		require.Equal(t, []time.Duration{1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}, b.times())
	})
}

func TestAClockAndTheTimeAgree(t *testing.T) {
	c := New()
	at := time.Now().Add(time.Hour)
	require.True(t, at.Equal(c.Time(c.At(at))))
	require.LessOrEqual(t, c.Now(), c.At(time.Now()))
}

// TestNoAlarmIsLateOrLost compares random settings with what they should come to.
func TestNoAlarmIsLateOrLost(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			c := New()
			bells, want := make([]*bell, 1+r.IntN(4)), make([][]time.Duration, 4)
			due := make([]time.Duration, 4)
			for i := range bells {
				bells[i] = &bell{clock: c}
			}
			pass := func() {
				for i := range bells {
					if due[i] != 0 && due[i] <= c.Now() {
						want[i], due[i] = append(want[i], due[i]), 0
					}
				}
			}
			for range 50 {
				<-time.After(time.Duration(r.IntN(10)))
				synctest.Wait()
				pass()
				if r.IntN(20) == 0 {
					c.Stop()
					clear(due)
					continue
				}
				i, at := r.IntN(len(bells)), c.Now()+time.Duration(1+r.IntN(30))
				c.Set(bells[i], c.Now(), at-c.Now())
				if due[i] == 0 || at < due[i] {
					due[i] = at
				}
			}
			<-time.After(time.Minute)
			pass()
			for i, b := range bells {
				require.Equal(t, want[i], b.times())
			}
			require.False(t, c.Running())
		})
	}
}

func TestManyMaySetAlarmsWhileOthersRing(t *testing.T) {
	c := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			b := &bell{clock: c}
			b.then = func() { c.Set(b, c.Now(), time.Hour) }
			for range 200 {
				c.Set(b, c.Now(), time.Microsecond)
			}
		})
	}
	wg.Wait()
	c.Stop()
}

func TestALaterAlarmCostsNothing(t *testing.T) {
	c := New()
	defer c.Stop()
	b := &bell{clock: c}
	c.Set(b, 0, time.Hour)
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Set(b, 0, 2*time.Hour) }))
}

func BenchmarkSet(b *testing.B) {
	c := New()
	defer c.Stop()
	r := &bell{clock: c}
	for b.Loop() {
		c.Set(r, c.Now(), time.Hour)
	}
}
