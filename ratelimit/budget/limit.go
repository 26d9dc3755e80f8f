package budget

import (
	"fmt"
	"math"
	"time"
)

// A Limit is the most that may be spent in a period. A figure of 0 or less is no limit, so the zero
// Limit limits nothing. Reaching a limit exactly is allowed.
type Limit struct {
	// Tokens is the most tokens, input and output together.
	Tokens int64
	// USD is the most US dollars. It is rounded once to millionths, at least one; after that, all
	// sums are exact. NaN is taken as one millionth, so that a wrong figure isn't taken for no
	// limit.
	//
	// A limit in money needs prices: a call of unknown price is rejected, unless
	// Config.AllowUnknownPrices is set. A call that costs nothing is always admitted.
	USD float64
	// Period is when counting restarts; the zero value, [Lifetime], is never.
	Period Period
	// Warn is the share of the limit at which [EventWarned] is reported; 0: 0.8; negative or NaN:
	// never.
	Warn float64
}

// defaultWarn is the share at which a limit warns.
const defaultWarn = .8

// An Amount is an amount of tokens, and of money in millionths of a US dollar.
type Amount struct {
	Tokens int64
	Micros int64
}

// Unlimited is the figure of an [Amount] that means no limit.
const Unlimited int64 = math.MaxInt64

// A Unit is what a limit counts in.
type Unit uint8

// The units.
const (
	UnitTokens Unit = iota
	UnitMoney       // in millionths of a US dollar
)

// units has both units in the order in which they are checked.
var units = [...]Unit{UnitTokens, UnitMoney}

// String returns "tokens" or "money".
func (u Unit) String() string {
	if u == UnitMoney {
		return "money"
	}
	return "tokens"
}

// text formats n, which must not be negative, for a person.
func (u Unit) text(n int64) string {
	if u != UnitMoney {
		return fmt.Sprintf("%d tokens", n)
	}
	return fmt.Sprintf("$%d.%06d", n/1e6, n%1e6)
}

// of returns the figure of a in that unit.
func (a *Amount) of(u Unit) int64 {
	if u == UnitMoney {
		return a.Micros
	}
	return a.Tokens
}

func (a Amount) plus(b Amount) Amount {
	return Amount{Tokens: sum(a.Tokens, b.Tokens), Micros: sum(a.Micros, b.Micros)}
}

func (a Amount) minus(b Amount) Amount {
	return Amount{Tokens: a.Tokens - b.Tokens, Micros: a.Micros - b.Micros}
}

// sum adds two figures that aren't negative. It returns math.MaxInt64 on overflow.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// bounds is a [Limit] in integers.
type bounds struct {
	most   Amount // Unlimited where there is no limit
	warn   Amount // where it warns; Unlimited for never
	period Period
}

// none reports whether nothing is limited.
func (b *bounds) none() bool { return b.most.Tokens == Unlimited && b.most.Micros == Unlimited }

// resolve converts dollars to integers.
func (l Limit) resolve() bounds {
	b := bounds{most: Amount{Tokens: l.Tokens, Micros: micros(l.USD)}, period: l.Period}
	if b.most.Tokens <= 0 {
		b.most.Tokens = Unlimited
	}
	if b.most.Micros <= 0 {
		b.most.Micros = Unlimited
	}
	b.warn = Amount{Tokens: warnAt(b.most.Tokens, l.Warn), Micros: warnAt(b.most.Micros, l.Warn)}
	return b
}

// micros returns dollars in millionths, rounded to the nearest; at least one for every figure above
// 0 and for NaN, 0 for figures that aren't above 0, Unlimited on overflow.
func micros(usd float64) int64 {
	switch {
	case math.IsNaN(usd):
		return 1
	case usd <= 0:
		return 0
	case usd >= math.MaxInt64/1e6:
		return Unlimited
	}
	return max(int64(math.Round(usd*1e6)), 1)
}

// warnAt returns the figure at which a limit warns: the share of the limit, rounded up; a share of
// 0 means the default. It returns Unlimited, which means never, if there is no limit or no share.
func warnAt(limit int64, share float64) int64 {
	if share == 0 {
		share = defaultWarn
	}
	if limit <= 0 || limit == Unlimited || !(share > 0) {
		return Unlimited
	}
	if share >= 1 {
		return limit
	}
	// A share such as .8 isn't exact: 8 of 10 must not become 9.
	const slack = 1e-9
	return min(max(int64(math.Ceil(float64(limit)*share*(1-slack))), 1), limit)
}

// resets returns when the period ends that now is in; the zero Time is never.
func (b *bounds) resets(now time.Time, in *time.Location) time.Time { return b.period.ends(now, in) }
