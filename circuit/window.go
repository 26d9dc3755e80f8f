package circuit

// A window holds the last results in a ring of bits: 1 is a failure.
type window struct {
	bits     []uint64
	size     int // 0: no results are kept
	next     int
	filled   int
	failures int
}

func newWindow(size int) window {
	return window{bits: make([]uint64, (size+63)/64), size: size}
}

// add replaces the oldest result.
func (w *window) add(failed bool) {
	if w.size == 0 {
		return
	}
	word, bit := &w.bits[w.next/64], uint64(1)<<(w.next%64)
	if w.filled < w.size {
		w.filled++
	} else if *word&bit != 0 {
		w.failures--
	}
	if failed {
		*word |= bit
		w.failures++
	} else {
		*word &^= bit
	}
	if w.next++; w.next == w.size {
		w.next = 0
	}
}

func (w *window) full() bool { return w.filled == w.size }

// clear forgets all results. The position of the next result doesn't matter, and old bits aren't
// read before they are overwritten.
func (w *window) clear() {
	w.filled, w.failures = 0, 0
}
