package process

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// How an output that is too long is cut.
const (
	headLines = 50
	tailLines = 100
	noteRoom  = 64       // enough for the line that says how much is left out
	pieceMost = 64 << 10 // a line that is longer counts as several
)

// A keeper keeps of the text of an output what is worth most within limit bytes, as it comes, in memory of about twice the
// limit: everything if that fits, else the first 50 lines, the last 100, and of those between the first ones that look
// important. The first lines take at most a third, and so do the last ones.
type keeper struct {
	limit int

	whole []byte // all there is, until it is too much
	over  bool   // it was
	head  part
	full  bool   // nothing more belongs to the head
	mid   []byte // important lines
	tail  []byte // the newest lines, from tail[from:]
	from  int
	sizes [tailLines + 1]int // of the lines of the tail, a ring
	first int
	count int
	left  int64 // bytes that were left out
}

// A part is a number of lines.
type part struct {
	text  []byte
	lines int
}

// pieceSize returns how long a piece of a line may be for such a limit.
func pieceSize(limit int) int { return min(pieceMost, max(limit/8, 16)) }

// add takes text that contains no line feed but perhaps as its last byte.
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

// next returns how long the first line of text is, or the first piece of it.
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

// sort puts a line where it belongs.
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

// push adds a line to the tail.
func (k *keeper) push(line []byte) {
	if len(k.tail)+len(line) > cap(k.tail) && k.from > len(k.tail)/2 {
		k.tail = k.tail[:copy(k.tail, k.tail[k.from:])]
		k.from = 0
	}
	k.tail = append(k.tail, line...)
	k.sizes[(k.first+k.count)%len(k.sizes)] = len(line)
	k.count++
}

// pop takes the oldest line from the tail, and keeps it if it looks important and has room.
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

// text returns what was kept, at most limit bytes.
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
