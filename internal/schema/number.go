package schema

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
)

// The limits of numbers are checked before any arbitrary-precision code: math/big expands an
// exponent into digits, and panics if there are too many.
const (
	maxDigits   = 1000 // bytes of a written number
	maxExponent = 400  // more than a float64 holds
)

// A literal is a number as it is written in JSON.
type literal struct {
	text     []byte
	whole    []byte // digits before the point
	fraction []byte // digits behind it
	exponent []byte // its sign and digits, nil if there is none
}

// readNumber reads the number at the beginning of in. If there is none, text is what looks like
// one.
func readNumber(in []byte) (num literal, ok bool) {
	rest := bytes.TrimPrefix(in, []byte("-"))
	digits := func(from int) []byte {
		end := from
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		read := rest[:end]
		rest = rest[end:]
		return read
	}
	num.whole = digits(0)
	ok = len(num.whole) == 1 || len(num.whole) > 1 && num.whole[0] != '0'
	if ok && bytes.HasPrefix(rest, []byte(".")) {
		num.fraction = digits(1)[1:]
		ok = len(num.fraction) > 0
	}
	if ok && len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		sign := 0
		if len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
			sign = 1
		}
		num.exponent = digits(sign)
		ok = len(num.exponent) > sign
	}
	num.text = in[:len(in)-len(rest)]
	return num, ok
}

func (num literal) isInteger() bool { return num.fraction == nil && num.exponent == nil }

func (num literal) tooLarge() string {
	if len(num.text) > maxDigits {
		return fmt.Sprintf("the number has %d characters; at most %d are allowed", len(num.text), maxDigits)
	}
	if num.exponent == nil {
		return ""
	}
	if e, err := strconv.Atoi(string(num.exponent)); err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Sprintf("the number's exponent is out of range; at most %d is allowed", maxExponent)
	}
	return ""
}

// asInteger converts a number within these limits to a plain integer, if it is one.
func asInteger(text string) (string, bool) {
	value, ok := new(big.Rat).SetString(text)
	if !ok || !value.IsInt() {
		return "", false
	}
	return value.Num().String(), true
}

// isShortInteger reports whether a number has at most 15 digits and a sign, so that a float64
// represents it exactly.
func isShortInteger(text []byte) bool {
	num, ok := readNumber(text)
	return ok && num.isInteger() && len(num.text) == len(text) && len(num.whole) <= 15
}

// number reads a number and returns whether it is written as an integer.
func (r *reader) number(n *node, at *location) kinds {
	num, ok := readNumber(r.in[r.pos:])
	end := r.pos + len(num.text)
	switch {
	case ok:
	case len(num.whole) > 1 && num.whole[0] == '0':
		r.fail("the number at byte %d has a leading zero", r.pos)
		return 0
	case len(num.text) > 0 && end == len(r.in):
		r.fail("the text ends after %d bytes in the middle of a number", len(r.in))
		return 0
	default:
		r.pos = end
		r.unexpected("a value")
		return 0
	}
	r.pos = end
	if problem := num.tooLarge(); problem != "" {
		r.problem(at, problem)
		return 0
	}
	integer, isWhole := "", false
	if n.wantsInteger() && !r.keep && (!num.isInteger() || string(num.text) == "-0") {
		integer, isWhole = asInteger(string(num.text))
	}
	if isWhole {
		r.write([]byte(integer))
	} else {
		r.write(num.text)
	}
	if n.min != nil || n.max != nil {
		r.valid = n.within(num) && r.valid
	}
	if num.isInteger() {
		return kindInteger
	}
	return kindFraction
}

// within reports whether a number is certainly within the bounds. Rounding to float64 keeps the
// order of two numbers unless it makes them equal, so a strict difference is certain.
func (n *node) within(num literal) bool {
	value, err := strconv.ParseFloat(string(num.text), 64)
	exact := num.isInteger() && len(num.whole) <= 15
	beyond := func(b *bound, distance float64) bool {
		return distance < 0 || distance == 0 && (b.exclusive || !b.exact || !exact)
	}
	return err == nil && (n.min == nil || !beyond(n.min, value-n.min.value)) &&
		(n.max == nil || !beyond(n.max, n.max.value-value))
}
