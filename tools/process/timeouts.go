package process

import "time"

// A timeouts is how long a process may run: base, and after each sign of progress extend from then, but never longer than
// limit.
type timeouts struct{ base, extend, limit time.Duration }

// until returns when the time is up, counted from the start, if the last sign came at last (less than 0: none came).
func (p timeouts) until(last time.Duration) time.Duration {
	d := p.base
	if last >= 0 && p.extend > 0 {
		d = max(d, last+p.extend)
	}
	return min(d, p.limit)
}

// noise reports whether a line says nothing about progress: it is blank, dots, a spinner, or a bare percentage.
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

// all reports whether line has no other bytes than those of set.
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
