package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ratOf returns a JSON number exactly, or false for one that is too large to be reckoned with.
func ratOf(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok || len(n) > 100 {
		return nil, false
	}
	if _, exp, ok := strings.Cut(strings.ToLower(string(n)), "e"); ok {
		if e, err := strconv.Atoi(exp); err != nil || e > 400 || e < -400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(string(n))
}

// number returns a number within the bounds, 1 if it may be.
func (s *sampler) number(m object, integer bool) (any, error) {
	for _, word := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if n, is := m[word].(json.Number); is {
			if _, ok := ratOf(n); !ok {
				return nil, fmt.Errorf("%s is too large or too small to be reckoned with: %.40s", word, n)
			}
		}
	}
	lo, loOpen := bound(m, "minimum", "exclusiveMinimum", 1)
	hi, hiOpen := bound(m, "maximum", "exclusiveMaximum", -1)
	v := big.NewRat(1, 1)
	if lo != nil && v.Cmp(lo) < 0 {
		v.Set(lo)
	}
	if hi != nil && v.Cmp(hi) > 0 {
		v.Set(hi)
	}
	step := stepOf(m, integer)
	below := func(v *big.Rat) bool { return lo != nil && (v.Cmp(lo) < 0 || loOpen && v.Cmp(lo) == 0) }
	above := func(v *big.Rat) bool { return hi != nil && (v.Cmp(hi) > 0 || hiOpen && v.Cmp(hi) == 0) }
	switch {
	case step != nil:
		n := new(big.Rat).Quo(v, step) // in steps, rounded down
		whole := new(big.Int).Div(n.Num(), n.Denom())
		v.Mul(step, new(big.Rat).SetInt(whole))
		if below(v) {
			v.Add(v, step)
		}
		if above(v) {
			v.Sub(v, step)
		}
	case (below(v) || above(v)) && lo != nil && hi != nil:
		v.Add(lo, hi).Quo(v, big.NewRat(2, 1))
	case below(v):
		v.Add(v, big.NewRat(1, 1))
	case above(v):
		v.Sub(v, big.NewRat(1, 1))
	}
	if below(v) || above(v) {
		return nil, errors.New("no number lies within the bounds")
	}
	if s.nth > 0 { // another number than before
		each := step
		if each == nil {
			each = big.NewRat(1, 1)
		}
		if next := new(big.Rat).Add(v, new(big.Rat).Mul(each, big.NewRat(int64(s.nth), 1))); !above(next) {
			v = next
		}
	}
	return decimal(v)
}

// bound returns the strictest bound that two keywords give, and whether it is outside itself.
func bound(m object, with, without string, sign int) (at *big.Rat, open bool) {
	at, _ = ratOf(m[with])
	if b, ok := ratOf(m[without]); ok && (at == nil || b.Cmp(at)*sign >= 0) {
		return b, true
	}
	return at, m[without] == true // as in draft 4
}

// stepOf returns what the number must be a multiple of, or nil.
func stepOf(m object, integer bool) *big.Rat {
	step, ok := ratOf(m["multipleOf"])
	switch {
	case (!ok || step.Sign() <= 0) && integer:
		return big.NewRat(1, 1)
	case !ok || step.Sign() <= 0:
		return nil
	case integer: // n/d in lowest terms: its multiples that are integers are those of n
		return new(big.Rat).SetInt(step.Num())
	}
	return step
}

func decimal(v *big.Rat) (any, error) {
	if v.IsInt() {
		return json.Number(v.Num().String()), nil
	}
	for digits := 1; digits <= 512; digits *= 2 {
		text := v.FloatString(digits)
		if back, ok := new(big.Rat).SetString(text); ok && back.Cmp(v) == 0 {
			return json.Number(strings.TrimRight(text, "0")), nil
		}
	}
	return nil, errors.New("no short number lies within the bounds")
}

var formats = map[string]string{
	"date-time":     "2026-01-02T15:04:05Z",
	"date":          "2026-01-02",
	"time":          "15:04:05Z",
	"duration":      "PT1H",
	"email":         "someone@example.com",
	"idn-email":     "someone@example.com",
	"hostname":      "example.com",
	"idn-hostname":  "example.com",
	"ipv4":          "192.0.2.1",
	"ipv6":          "2001:db8::1",
	"uri":           "https://example.com/",
	"url":           "https://example.com/",
	"iri":           "https://example.com/",
	"uri-reference": "/path",
	"iri-reference": "/path",
	"uri-template":  "/path/{id}",
	"uuid":          "123e4567-e89b-42d3-a456-426614174000",
	"json-pointer":  "/path",
	"regex":         "^a$",
}

// text returns a string that keeps length, format and pattern.
func (s *sampler) text(m object) (any, error) {
	least, most := countOf(m, "minLength", 0), countOf(m, "maxLength", mostItems)
	if least > most || least > mostItems {
		return nil, fmt.Errorf("a text of at least %d and at most %d characters", least, most)
	}
	if pattern, ok := m["pattern"].(string); ok {
		return matching(pattern, least, most)
	}
	format, _ := m["format"].(string)
	if text, ok := formats[format]; ok {
		if n := len(text); n < least || n > most {
			return nil, fmt.Errorf("no text of format %s has a fitting length", format)
		}
		return text, nil
	}
	text := "text"
	if s.nth > 0 {
		text = strconv.Itoa(s.nth+1) + "text" // differs at the begin, so that it still does when cut
	}
	if n := least - len(text); n > 0 {
		text += strings.Repeat("x", n)
	}
	return text[:min(len(text), most)], nil
}

// matching returns a string that matches the pattern and has from least to most characters.
func matching(pattern string, least, most int) (any, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern isn't understood: %w", err)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern isn't understood: %w", err)
	}
	for more := 0; more <= least; more = 2*more + 1 { // more repetitions, until it is long enough
		for _, n := range []int{more, max(0, least-1), least} {
			var b strings.Builder
			write(&b, tree, n)
			text := b.String()
			if !strings.Contains(pattern, "$") { // what isn't anchored may be filled up
				text += strings.Repeat("x", max(0, least-utf8.RuneCountInString(text)))
			}
			if n := utf8.RuneCountInString(text); n >= least && n <= most && re.MatchString(text) {
				return text, nil
			}
		}
	}
	return nil, fmt.Errorf("no text is found that matches %.80q", pattern)
}

// write adds what re matches to b, repeating what may be repeated so many times more than it must be.
func write(b *strings.Builder, re *syntax.Regexp, more int) {
	if b.Len() > 8*mostItems {
		return
	}
	times := func(n int) {
		for range n {
			write(b, re.Sub[0], more)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(pick(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpStar:
		times(more)
	case syntax.OpPlus:
		times(1 + more)
	case syntax.OpRepeat:
		n := re.Min + more
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		times(n)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub, more)
		}
	case syntax.OpCapture, syntax.OpAlternate:
		times(1)
	}
}

// pick returns a plain character of a class, given as pairs of bounds.
func pick(class []rune) rune {
	for _, want := range "a0Ab1 -_." {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= want && want <= class[i+1] {
				return want
			}
		}
	}
	if len(class) > 0 {
		return class[0]
	}
	return 'a'
}
