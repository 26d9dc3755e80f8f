package process

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// The limits of a shortened output.
const (
	headLines = 50
	tailLines = 100
	noteRoom  = 64       // room for the line that says how much is omitted
	pieceMost = 64 << 10 // a longer line counts as several lines
)

// A keeper keeps the most useful parts of an output, as it arrives, within limit bytes and in
// memory of about twice the limit: everything if it fits, else the first 50 lines, the last 100,
// and the first important lines between them. The first lines take at most a third of the limit,
// and so do the last ones.
type keeper struct {
	limit int

	whole []byte // the whole output, while it fits
	over  bool   // the output didn't fit
	head  []byte // the first lines
	lines int    // how many; -1: the head is complete
	mid   []byte // important lines
	tail  [][]byte
	size  int   // bytes of tail
	left  int64 // omitted bytes
}

// pieceSize returns the size of the pieces of a long line for this limit.
func pieceSize(limit int) int { return min(pieceMost, max(limit/8, 16)) }

// add adds text. Only its last byte may be a line feed.
func (k *keeper) add(text []byte) {
	if !k.over {
		if len(k.whole)+len(text) <= k.limit {
			k.whole = append(k.whole, text...)
			return
		}
		k.over = true
		for line := range bytes.Lines(k.whole) {
			for len(line) > pieceSize(k.limit) {
				n := pieceSize(k.limit)
				for ; !utf8.RuneStart(line[n]); n-- {
				}
				k.sort(line[:n])
				line = line[n:]
			}
			k.sort(line)
		}
		k.whole = nil
	}
	k.sort(text)
}

// sort adds a line to the part it belongs to.
func (k *keeper) sort(line []byte) {
	if k.lines >= 0 && k.lines < headLines && len(k.head)+len(line) <= k.limit/3 {
		k.head = append(k.head, line...)
		if line[len(line)-1] == '\n' {
			k.lines++
		}
		return
	}
	k.lines = -1
	k.tail = append(k.tail, bytes.Clone(line))
	for k.size += len(line); len(k.tail) > tailLines || k.size > k.limit/3; k.tail = k.tail[1:] {
		k.size -= len(k.tail[0])
		k.leave(k.tail[0])
	}
}

// leave leaves a line out, unless it looks important and fits.
func (k *keeper) leave(line []byte) {
	room := k.limit - k.limit/3 - 2*noteRoom - len(k.head) - len(k.mid)
	if len(line)+1 > room || !important(line) {
		k.left += int64(len(line))
		return
	}
	k.mid = append(k.mid, line...)
	if line[len(line)-1] != '\n' {
		k.mid = append(k.mid, '\n')
	}
}

// text returns the kept output, at most limit bytes.
func (k *keeper) text() string {
	if !k.over {
		return string(k.whole)
	}
	tail := bytes.Join(k.tail, nil)
	if k.left == 0 && len(k.mid) == 0 {
		return string(k.head) + string(tail)
	}
	out := k.head[:len(k.head):len(k.head)]
	if n := len(out); n > 0 && out[n-1] != '\n' {
		out = append(out, '\n')
	}
	out = fmt.Appendf(out, "[… %d bytes left out …]\n", k.left)
	return string(append(append(out, k.mid...), tail...))
}
