package process

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSignsOfProgressExtendTheTimeLimit(t *testing.T) {
	p := timeouts{time.Minute, 30 * time.Second, 30 * time.Minute}
	for last, want := range map[time.Duration]time.Duration{
		-1:                              time.Minute,
		0:                               time.Minute,
		30 * time.Second:                time.Minute,
		31 * time.Second:                61 * time.Second,
		time.Minute:                     90 * time.Second,
		29*time.Minute + 59*time.Second: 30 * time.Minute,
		29*time.Minute + 29*time.Second: 29*time.Minute + 59*time.Second,
		2 * time.Hour:                   30 * time.Minute,
	} {
		require.Equal(t, want, p.until(last), last)
	}
	p.extend = 0
	require.Equal(t, time.Minute, p.until(59*time.Second))
}

func TestNoiseIsNoSignOfProgress(t *testing.T) {
	for line, want := range map[string]bool{
		"": true, " \t": true, ".": true, " ..... ": true, "|": true, "/-\\|": true, "45%": true, " 100% ": true,
		"%": false, "45.2%": false, "Downloading 45%": false, "a": false, "1": false, "..a": false, ".|": false,
	} {
		require.Equal(t, want, noise([]byte(line)), "%q", line)
	}
}

func TestAProgressBarThatErasesItsLineShowsProgress(t *testing.T) {
	for _, bar := range []string{"step 1\x1b[2K", "step 1\x1b[1G", "step 1\x1b[G", "step 1\r2"} {
		c := newCollector(defaultKeep, nil)
		c.write(0, []byte(bar))
		require.GreaterOrEqual(t, c.heard(), time.Duration(0), "%q", bar)
	}
	c := newCollector(defaultKeep, nil)
	c.write(0, []byte("step 1"))
	require.Negative(t, c.heard(), "a line that may go on")
}

func TestAWatchReportsTheNewestLinesAtMostTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		var told []string
		began := time.Now()
		w := newWatch(func(text string) {
			at, told = append(at, time.Since(began)), append(told, text)
		}, 0)
		for range 1000 {
			w.line([]byte("first"))
		}
		<-time.After(time.Second)
		w.line([]byte("second"))
		synctest.Wait()
		w.line([]byte("third"))
		<-time.After(time.Millisecond)
		w.line([]byte("fourth"))
		<-time.After(time.Second)
		w.line([]byte("last"))
		require.NoError(t, w.close())
		n := len(told)
		require.LessOrEqual(t, n, 6)
		require.Equal(t, []string{"second", "third\nfourth", "last"}, told[n-3:])
		require.Equal(t, []time.Duration{time.Second, 1100 * time.Millisecond, 2001 * time.Millisecond}, at[n-3:])
		for _, text := range told {
			require.LessOrEqual(t, len(text), watchBytes+100)
		}
	})
}

func TestAWatchOmitsLinesAboveItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		hold := make(chan struct{})
		w := newWatch(func(text string) {
			<-hold
			told = append(told, text)
		}, 0)
		w.line([]byte("one"))
		synctest.Wait()
		long := make([]byte, 10_000)
		for i := range long {
			long[i] = 'x'
		}
		for range 100 {
			w.line(long)
		}
		close(hold)
		require.NoError(t, w.close())
		require.Len(t, told, 2)
		require.Contains(t, told[1], "[… 93 lines left out …]\nxxx")
		require.LessOrEqual(t, len(told[1]), watchBytes+100)
	})
}

func TestAWatchReportsMissingOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := newWatch(func(text string) { told = append(told, text) }, 15*time.Second)
		<-time.After(40 * time.Second)
		w.line([]byte("something"))
		<-time.After(40 * time.Second)
		require.NoError(t, w.close())
		require.Equal(t, []string{"no output for 15s", "no output for 30s", "something", "no output for 20s",
			"no output for 35s"}, told)
	})
}
