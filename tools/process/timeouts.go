package process

import (
	"bytes"
	"time"
)

// A timeouts is the time limit of a process: base, and after each sign of progress extend from
// then, but at most limit from the start.
type timeouts struct{ base, extend, limit time.Duration }

// until returns the time limit, counted from the start. last is when the last sign of progress came
// (negative: none).
func (p timeouts) until(last time.Duration) time.Duration {
	d := p.base
	if last >= 0 && p.extend > 0 {
		d = max(d, last+p.extend)
	}
	return min(d, p.limit)
}

// noise reports whether a line shows no progress: it is blank, or only dots, a spinner or a
// percentage.
func noise(line []byte) bool {
	line = bytes.Trim(line, " \t")
	only := func(set string) bool { return len(bytes.Trim(line, set)) == 0 }
	if number, ok := bytes.CutSuffix(line, []byte("%")); ok && len(number) > 0 {
		line = number
		return only("0123456789")
	}
	return only(".") || only(`|/-\`)
}
