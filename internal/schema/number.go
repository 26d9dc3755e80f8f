package schema

import (
	"bytes"
	"fmt"
	"strconv"
)

// Numbers are bounded before anything of arbitrary precision sees them: math/big expands an exponent into digits, and
// panics where there are too many.
const (
	maxDigits   = 1000 // bytes of a written number
	maxExponent = 400  // more than a float64 holds
)

// A literal is a number as JSON writes it.
type literal struct {
	length   int
	negative bool
	whole    []byte // digits before the point
	fraction []byte // digits behind it
	exponent []byte // its sign and digits, nil if there is none
}

// readNumber reads the number that text begins with. If there is none, length says how far it looked like one.
func readNumber(text []byte) (literal, bool) {
	var num literal
	i := 0
	digits := func() []byte {
		start := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		num.length = i
		return text[start:i]
	}
	if i < len(text) && text[i] == '-' {
		num.negative = true
		i++
	}
	if num.whole = digits(); len(num.whole) == 0 || num.whole[0] == '0' && len(num.whole) > 1 {
		return num, false
	}
	if i < len(text) && text[i] == '.' {
		i++
		if num.fraction = digits(); len(num.fraction) == 0 {
			return num, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		start := i
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if len(digits()) == 0 {
			return num, false
		}
		num.exponent = text[start:i]
	}
	return num, true
}

func (num literal) tooLarge() string {
	if num.length > maxDigits {
		return fmt.Sprintf("the number has %d characters; at most %d are allowed", num.length, maxDigits)
	}
	if num.exponent == nil {
		return ""
	}
	if e, err := strconv.Atoi(string(num.exponent)); err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Sprintf("the number's exponent is out of range; at most %d is allowed", maxExponent)
	}
	return ""
}

// appendInteger writes the number as a plain integer, or, if it isn't whole, as it stands in text.
func (num literal) appendInteger(out, text []byte) []byte {
	if num.fraction == nil && num.exponent == nil && num.whole[0] != '0' {
		return append(out, text...)
	}
	exponent, _ := strconv.Atoi(string(num.exponent))
	digits := append(append([]byte(nil), num.whole...), num.fraction...)
	point := len(num.whole) + exponent
	switch {
	case len(bytes.Trim(digits, "0")) == 0:
		return append(out, '0')
	case point <= 0 || point < len(digits) && len(bytes.Trim(digits[point:], "0")) > 0:
		return append(out, text...)
	case point < len(digits):
		digits = digits[:point]
	}
	for len(digits) < point {
		digits = append(digits, '0')
	}
	if num.negative {
		out = append(out, '-')
	}
	return append(out, bytes.TrimLeft(digits, "0")...)
}
