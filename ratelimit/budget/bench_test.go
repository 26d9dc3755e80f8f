package budget_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/pawlkit/pawl/ratelimit/budget"
)

func wide() *budget.Budget {
	l := budget.Limit{Tokens: 1 << 60, USD: 1e9, Period: budget.Day}
	return budget.New(budget.Config{Global: l, Session: l, Task: l, Provider: l})
}

func BenchmarkReserveAndSettle(b *testing.B) {
	for name, limits := range map[string]*budget.Budget{
		"no limit": budget.New(budget.Config{}),
		"global":   budget.New(budget.Config{Global: budget.Limit{Tokens: 1 << 60, Period: budget.Day}}),
		"a day and a session": budget.New(
			budget.Config{Global: budget.Limit{Tokens: 1 << 60, USD: 1e9, Period: budget.Day},
				Session: budget.Limit{Tokens: 1 << 60}}),
		"four scopes": wide(),
		"and a share": budget.New(budget.Config{Global: budget.Limit{Tokens: 1 << 60}, FairShare: true}),
		"nil *Budget": nil,
	} {
		b.Run(name, func(b *testing.B) {
			ctx, req := context.Background(), budget.ReserveRequest{Names: all, Tokens: 5000, Micros: 3000}
			b.ReportAllocs()
			for b.Loop() {
				r, err := limits.Reserve(ctx, req)
				if err != nil {
					b.Fatal(err)
				}
				r.Settle(4000, 2000)
			}
		})
	}
}

func BenchmarkReserveAndSettleInParallel(b *testing.B) {
	limits := wide()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx, req := context.Background(), budget.ReserveRequest{Names: all, Tokens: 5000, Micros: 3000}
		for pb.Next() {
			r, err := limits.Reserve(ctx, req)
			if err != nil {
				b.Error(err)
				return
			}
			r.Settle(4000, 2000)
		}
	})
}

func BenchmarkTopUp(b *testing.B) {
	r, err := wide().Reserve(context.Background(), budget.ReserveRequest{Names: all})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := r.TopUp(1, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStatus(b *testing.B) {
	limits := wide()
	limits.Seed(all, 1, 1)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			limits.Status(budget.ScopeSession, "s")
		}
	})
	b.Run("remaining", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			limits.Remaining(all)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	for _, names := range []int{1, 1000, 100_000} {
		b.Run("sessions="+strconv.Itoa(names), func(b *testing.B) {
			l, entries := budget.NewLedger(budget.LedgerConfig{}), make([]budget.Entry, names)
			for i := range entries {
				entries[i] = call(strconv.Itoa(i), "p", "m")
				l.Record(entries[i])
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				l.Record(entries[i%names])
				i++
			}
		})
	}
}

func BenchmarkTotal(b *testing.B) {
	l := budget.NewLedger(budget.LedgerConfig{})
	for i := range 10_000 {
		l.Record(call(strconv.Itoa(i), "p", "m"))
	}
	for name, f := range map[string]budget.Filter{
		"all": {}, "session": {Session: "77"}, "model": {Provider: "p", Model: "m"},
		"session and model": {Session: "77", Model: "m"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Total(f)
			}
		})
	}
}
