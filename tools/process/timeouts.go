package process

import "time"

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
	i, n := 0, len(line)
	for i < n && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	for n > i && (line[n-1] == ' ' || line[n-1] == '\t') {
		n--
	}
	line = line[i:n]
	if len(line) == 0 {
		return true
	}
	if line[len(line)-1] == '%' && len(line) > 1 {
		return all(line[:len(line)-1], "0123456789")
	}
	return all(line, ".") || all(line, `|/-\`)
}

// all reports whether line has only bytes of set.
func all(line []byte, set string) bool {
	for _, b := range line {
		found := false
		for i := range len(set) {
			found = found || set[i] == b
		}
		if !found {
			return false
		}
	}
	return true
}
