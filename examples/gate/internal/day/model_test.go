package day

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func TestAModelAnswersAtItsPaceAndBillsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		m := newModel("m", p, 10, 50, primaryPrices, false)
		c := &p.Calls[0]
		began := time.Now()
		res, err := provider.Generate(t.Context(), m, c.request())
		require.NoError(t, err)
		require.Equal(t, c.usage(), res.Usage)
		require.Len(t, res.Text(), int(c.Output*bytesPerToken))
		speaks := time.Duration(float64(c.Output) / 50 * float64(time.Second))
		require.WithinRange(t, time.Now(), began.Add(speaks+firstWord),
			began.Add(speaks+firstWord+firstWordMore+wayTakes+wayMore))
		require.Equal(t, Counts{Requests: 1, Most: 1, Billed: primaryPrices.Cost(c.usage())}, m.Counts())
	})
}

func TestAModelRefusesWhatIsTooMuchAndSaysUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		m := newModel("m", p, 30, 1e9, primaryPrices, false)
		for range 30 {
			require.NoError(t, m.admit(t.Context()))
		}
		err := m.admit(t.Context())
		require.Equal(t, fault.RateLimited, fault.Of(err))
		wait, ok := fault.RetryAfter(err)
		require.True(t, ok)
		require.Equal(t, 3*time.Second, wait, "a twentieth of 30 a minute")
		<-time.After(wait)
		require.NoError(t, m.admit(t.Context()))
		require.Error(t, m.admit(t.Context()), "the next one comes in a second")
		require.Equal(t, 2, m.Counts().Refused)
	})
}

func TestAModelFailsInItsOutageAndHalvesItsRateInTheSqueeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 6})
		p.Squeeze, p.Outage = Span{0, time.Hour}, Span{2 * time.Hour, 3 * time.Hour}
		m, spared := newModel("m", p, 30, 1e9, primaryPrices, true),
			newModel("spared", p, 30, 1e9, primaryPrices, false)
		admitted := func(m *Model) (n int) {
			for range 60 {
				if m.admit(t.Context()) == nil {
					n++
				}
			}
			return n
		}
		require.Equal(t, 15, admitted(m))
		require.Equal(t, 30, admitted(spared))
		<-time.After(p.Outage.From)
		err := m.admit(t.Context())
		require.Equal(t, fault.Degraded, fault.Of(err))
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 529, e.Status)
		require.NoError(t, spared.admit(t.Context()))
		<-time.After(time.Hour)
		require.NoError(t, m.admit(t.Context()))
	})
}

func TestAModelBillsWhatItHasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		m := newModel("m", p, 30, 10, primaryPrices, false)
		c := &p.Calls[0]
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		gone := errors.New("gone")
		var last error
		for chunk, err := range m.Stream(ctx, c.request()) {
			last = err
			if chunk.Kind == provider.KindText {
				cancel(gone)
			}
		}
		require.ErrorIs(t, last, gone)
		for chunk, err := range m.Stream(t.Context(), c.request()) {
			require.NoError(t, err)
			if chunk.Kind == provider.KindText {
				break
			}
		}
		said := primaryPrices.Cost(provider.Usage{Input: c.Input, Output: c.Output / pieces})
		require.Equal(t, Counts{Requests: 2, Broken: 2, Most: 1, Billed: 2 * said}, m.Counts())
	})
}

func TestAModelThatIsCanceledOnTheWayIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		m := newModel("m", p, 30, 10, primaryPrices, false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := provider.Generate(ctx, m, p.Calls[0].request())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, m.Counts())
		seq := m.Stream(t.Context(), p.Calls[0].request())
		for range seq {
		}
		for _, err := range seq {
			require.ErrorIs(t, err, provider.ErrConsumed)
		}
		info, ok := provider.Info(m)
		require.True(t, ok)
		require.Equal(t, "m", info.Provider)
	})
}
