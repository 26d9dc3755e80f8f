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
	head  part
	full  bool   // the head is complete
	mid   []byte // important lines
	tail  []byte // the newest lines, from tail[from:]
	from  int
	sizes [tailLines + 1]int // sizes of the tail's lines, a ring buffer
	first int
	count int
	left  int64 // omitted bytes
}

// A part is a group of lines.
type part struct {
	text  []byte
	lines int
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
		for all := k.whole; len(all) > 0; {
			n := k.next(all)
			k.sort(all[:n])
			all = all[n:]
		}
		k.whole = nil
	}
	k.sort(text)
}

// next returns the length of the first line of text, or of the first piece of it.
func (k *keeper) next(text []byte) int {
	n := bytes.IndexByte(text, '\n') + 1
	if n == 0 {
		n = len(text)
	}
	if most := pieceSize(k.limit); n > most {
		for n = most; n > most-utf8.UTFMax && !utf8.RuneStart(text[n]); n-- {
		}
	}
	return n
}

// sort adds a line to the part it belongs to.
func (k *keeper) sort(line []byte) {
	if !k.full {
		if k.head.lines < headLines && len(k.head.text)+len(line) <= k.limit/3 {
			k.head.text = append(k.head.text, line...)
			if line[len(line)-1] == '\n' {
				k.head.lines++
			}
			return
		}
		k.full = true
	}
	k.push(line)
	for k.count > tailLines || len(k.tail)-k.from > k.limit/3 {
		k.pop()
	}
}

// push appends a line to the tail.
func (k *keeper) push(line []byte) {
	if len(k.tail)+len(line) > cap(k.tail) && k.from > len(k.tail)/2 {
		k.tail = k.tail[:copy(k.tail, k.tail[k.from:])]
		k.from = 0
	}
	k.tail = append(k.tail, line...)
	k.sizes[(k.first+k.count)%len(k.sizes)] = len(line)
	k.count++
}

// pop removes the oldest line from the tail, and keeps it if it looks important and fits.
func (k *keeper) pop() {
	n := k.sizes[k.first]
	line := k.tail[k.from : k.from+n]
	k.first = (k.first + 1) % len(k.sizes)
	k.count--
	k.from += n
	room := k.limit - k.limit/3 - 2*noteRoom - len(k.head.text) - len(k.mid)
	if n+1 <= room && important(line) {
		k.mid = append(k.mid, line...)
		if line[n-1] != '\n' {
			k.mid = append(k.mid, '\n')
		}
		return
	}
	k.left += int64(n)
}

// text returns the kept output, at most limit bytes.
func (k *keeper) text() string {
	if !k.over {
		return string(k.whole)
	}
	tail := k.tail[k.from:]
	if k.left == 0 && len(k.mid) == 0 {
		return string(k.head.text) + string(tail)
	}
	out := make([]byte, 0, len(k.head.text)+len(k.mid)+len(tail)+2*noteRoom)
	out = append(out, k.head.text...)
	if n := len(out); n > 0 && out[n-1] != '\n' {
		out = append(out, '\n')
	}
	out = fmt.Appendf(out, "[… %d bytes left out …]\n", k.left)
	out = append(out, k.mid...)
	return string(append(out, tail...))
}
