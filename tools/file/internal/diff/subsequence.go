package diff

import (
	"bytes"
	"slices"
)

// A run is a sequence of n equal lines in two texts, from line a of the one and line b of the
// other, counted from 0.
type run struct{ a, b, n int }

// splitLines splits data after each line end.
func splitLines(data []byte) [][]byte { return slices.Collect(bytes.Lines(data)) }

// A differ gives equal lines of several texts equal numbers.
type differ struct{ ids map[string]int32 }

func (d *differ) number(lines [][]byte) []int32 {
	if d.ids == nil {
		d.ids = make(map[string]int32)
	}
	out := make([]int32, len(lines))
	for i, l := range lines {
		id, ok := d.ids[string(l)]
		if !ok {
			id = int32(len(d.ids))
			d.ids[string(l)] = id
		}
		out[i] = id
	}
	return out
}

// common returns the lines that a and b have in common, in order, as runs that don't overlap, and
// that don't touch in both texts. It is the patience diff (Bram Cohen): lines that occur exactly
// once in both texts are anchors; between anchors it uses Myers' greedy algorithm ("An O(ND)
// Difference Algorithm and Its Variations", 1986) while that is cheap. The result is always a
// common subsequence, but for repetitive texts not always the longest.
func common(a, b []int32) []run {
	var out []run
	stack := []box{{0, len(a), 0, len(b)}}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for x.a0 < x.a1 && x.b0 < x.b1 && a[x.a0] == b[x.b0] {
			out = append(out, run{x.a0, x.b0, 1})
			x.a0, x.b0 = x.a0+1, x.b0+1
		}
		for x.a0 < x.a1 && x.b0 < x.b1 && a[x.a1-1] == b[x.b1-1] {
			x.a1, x.b1 = x.a1-1, x.b1-1
			out = append(out, run{x.a1, x.b1, 1})
		}
		if x.a0 == x.a1 || x.b0 == x.b1 {
			continue
		}
		if anchors := x.anchors(a, b); len(anchors) > 0 {
			for _, at := range anchors {
				out = append(out, at)
				stack = append(stack, box{x.a0, at.a, x.b0, at.b})
				x.a0, x.b0 = at.a+1, at.b+1
			}
			stack = append(stack, x)
			continue
		}
		out = append(out, x.myers(a, b)...)
	}
	slices.SortFunc(out, func(x, y run) int { return x.a - y.a })
	joined := out[:0]
	for _, r := range out {
		if n := len(joined); n > 0 && joined[n-1].a+joined[n-1].n == r.a && joined[n-1].b+joined[n-1].n == r.b {
			joined[n-1].n += r.n
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// A box is a part of two texts.
type box struct{ a0, a1, b0, b1 int }

// anchors returns the longest increasing sequence of lines that occur exactly once in each part of
// the box.
func (x box) anchors(a, b []int32) []run {
	type seen struct{ inA, inB, a, b int }
	lines := make(map[int32]*seen, x.a1-x.a0)
	for i := x.a0; i < x.a1; i++ {
		s := lines[a[i]]
		if s == nil {
			s = new(seen)
			lines[a[i]] = s
		}
		s.inA, s.a = s.inA+1, i
	}
	for j := x.b0; j < x.b1; j++ {
		if s := lines[b[j]]; s != nil {
			s.inB, s.b = s.inB+1, j
		}
	}
	// Longest increasing subsequence of the positions in b, in the order of a, by patience sorting.
	type card struct {
		run
		before int // index of the top card of the previous pile, or -1
	}
	var cards []card
	var piles []int // index of the top card
	for i := x.a0; i < x.a1; i++ {
		s := lines[a[i]]
		if s.inA != 1 || s.inB != 1 {
			continue
		}
		p, _ := slices.BinarySearchFunc(piles, s.b, func(top, at int) int { return cards[top].b - at })
		c := card{run{s.a, s.b, 1}, -1}
		if p > 0 {
			c.before = piles[p-1]
		}
		if p == len(piles) {
			piles = append(piles, 0)
		}
		piles[p] = len(cards)
		cards = append(cards, c)
	}
	out := make([]run, len(piles))
	if len(piles) == 0 {
		return nil
	}
	for i, at := len(piles)-1, piles[len(piles)-1]; i >= 0; i-- {
		out[i], at = cards[at].run, cards[at].before
	}
	return out
}

// maxEdits limits the cost of Myers' algorithm, which takes about its square in memory and time.
const maxEdits = 500

// myers returns a longest common subsequence of the box, or nothing if the parts differ by more
// than maxEdits lines.
func (x box) myers(a, b []int32) []run {
	n, m := x.a1-x.a0, x.b1-x.b0
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+3) // v[limit+1+k]: the furthest position in a on diagonal k
	var trace [][]int           // trace[d][d+k] is v before step d
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[limit+1-d:limit+2+d]))
		for k := -d; k <= d; k += 2 {
			at := limit + 1 + k
			i := v[at-1] + 1
			if k == -d || k != d && v[at-1] < v[at+1] {
				i = v[at+1]
			}
			for i < n && i-k < m && a[x.a0+i] == b[x.b0+i-k] {
				i++
			}
			if v[at] = i; i == n && i-k == m {
				return x.back(trace)
			}
		}
	}
	return nil
}

// back follows the trace of myers back from the end of the box.
func (x box) back(trace [][]int) []run {
	var out []run
	i, j := x.a1-x.a0, x.b1-x.b0
	for d := len(trace) - 1; d >= 0; d-- {
		fromI, fromJ := 0, 0
		if d > 0 {
			v, k := trace[d], i-j
			if k == -d || k != d && v[d+k-1] < v[d+k+1] {
				k++
			} else {
				k--
			}
			fromI = v[d+k]
			fromJ = fromI - k
		}
		for i > fromI && j > fromJ {
			i, j = i-1, j-1
			out = append(out, run{x.a0 + i, x.b0 + j, 1})
		}
		i, j = fromI, fromJ
	}
	return out
}
