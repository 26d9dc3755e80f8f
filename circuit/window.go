package circuit

// A window holds the last results in a ring: true is a failure.
type window struct {
	results  []bool // none: no results are kept
	next     int
	filled   int
	failures int
}

// add replaces the oldest result.
func (w *window) add(failed bool) {
	if len(w.results) == 0 {
		return
	}
	if !w.full() {
		w.filled++
	} else if w.results[w.next] {
		w.failures--
	}
	if w.results[w.next] = failed; failed {
		w.failures++
	}
	w.next = (w.next + 1) % len(w.results)
}

func (w *window) full() bool { return w.filled == len(w.results) }

// clear forgets all results. The position of the next result doesn't matter, and old results aren't
// read before they are overwritten.
func (w *window) clear() { w.filled, w.failures = 0, 0 }
