package fault_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

var (
	nine = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	year = 365 * 24 * time.Hour
)

func advice(ms, seconds string) http.Header {
	h := http.Header{}
	if ms != "" {
		h.Set("retry-after-ms", ms)
	}
	if seconds != "" {
		h.Set("Retry-After", seconds)
	}
	return h
}

func TestAServersAdviceIsReadInAllItsForms(t *testing.T) {
	tests := []struct {
		ms, seconds string
		want        time.Duration // 0 for no advice
	}{
		{"", "", 0},
		{"1500", "", 1500 * time.Millisecond},
		{"0.5", "", 500 * time.Microsecond},
		{"1500", "60", 1500 * time.Millisecond},
		{"soon", "60", time.Minute},
		{"0", "60", time.Minute},
		{"-5", "60", time.Minute},
		{"", "60", time.Minute},
		{"", " 1.5 ", 1500 * time.Millisecond},
		{"", "1e1", 10 * time.Second},
		{"", "0", 0},
		{"", "-1", 0},
		{"", "-0.0", 0},
		{"", "1e-12", 0}, // less than a nanosecond
		{"", "NaN", 0},
		{"", "Inf", 0},
		{"", "-Inf", 0},
		{"", "1e999", 0},
		{"", "31536000", year},
		{"", "31536001", year},
		{"", "9223372037", year}, // more than a Duration holds
		{"", "1e300", year},
		{"1e300", "", year},
		{"", "Sat, 21 Nov 2026 09:01:30 GMT", 90 * time.Second},
		{"", "Saturday, 21-Nov-26 09:01:30 GMT", 90 * time.Second},
		{"", "Sat Nov 21 09:01:30 2026", 90 * time.Second},
		{"", "Sat, 21 Nov 2026 09:00:00 GMT", 0},
		{"", "Sat, 21 Nov 2026 08:59:59 GMT", 0},
		{"", "Fri, 31 Dec 9999 23:59:59 GMT", year},
		{"", "Mon, 01 Jan 0001 00:00:00 GMT", 0},
		{"", "5 minutes", 0},
		{"Sat, 21 Nov 2026 09:01:30 GMT", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.ms+"|"+tt.seconds, func(t *testing.T) {
			wait, ok := fault.ParseRetryAfter(advice(tt.ms, tt.seconds), nine)
			require.Equal(t, tt.want, wait)
			require.Equal(t, tt.want != 0, ok)
		})
	}
	_, ok := fault.ParseRetryAfter(nil, nine)
	require.False(t, ok)
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("1500", "60", int64(0))
	f.Add("", "1.5", int64(0))
	f.Add("NaN", "-Inf", int64(-1))
	f.Add("", "Saturday, 21-Nov-26 09:01:30 GMT", nine.Unix())
	f.Add("", "Sat Nov 21 09:01:30 2026", int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, ms, seconds string, now int64) {
		wait, ok := fault.ParseRetryAfter(advice(ms, seconds), time.Unix(now, 0))
		if ok && (wait <= 0 || wait > year) || !ok && wait != 0 {
			t.Fatalf("%v, %v", wait, ok)
		}
	})
}

type slow struct {
	error
	wait time.Duration
	ok   bool
}

func (s slow) Unwrap() error                     { return s.error }
func (s slow) RetryAfter() (time.Duration, bool) { return s.wait, s.ok }

func TestTheOutermostAdviceIsFound(t *testing.T) {
	inner := slow{io.EOF, time.Minute, true}
	tests := []struct {
		name string
		err  error
		want time.Duration
		ok   bool
	}{
		{"nil", nil, 0, false},
		{"none", io.EOF, 0, false},
		{"wrapped", fmt.Errorf("x: %w", inner), time.Minute, true},
		{"joined", errors.Join(io.EOF, inner), time.Minute, true},
		{"below one that has none", slow{inner, time.Hour, false}, time.Minute, true},
		{"below another", fault.WithRetryAfter(inner, time.Second), time.Second, true},
		{"at once", fault.WithRetryAfter(inner, 0), 0, true},
		{"negative", fault.WithRetryAfter(inner, math.MinInt64), 0, true},
		{"negative of a foreign error", slow{io.EOF, -1, true}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wait, ok := fault.RetryAfter(tt.err)
			require.Equal(t, tt.want, wait)
			require.Equal(t, tt.ok, ok)
		})
	}
}

func TestAdviceKeepsTextClassAndChain(t *testing.T) {
	cause := fault.Wrap(fault.RateLimited, io.EOF)
	err := fault.WithRetryAfter(cause, time.Second)
	require.EqualError(t, err, "EOF")
	require.Equal(t, fault.RateLimited, fault.Of(err))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, fault.WithRetryAfter(nil, time.Second))
}
