package cut

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What is kept of a long text.
const (
	headLines = 50
	tailLines = 100
	noteRoom  = 64 // enough for a note
)

// words mark lines that are worth keeping when the middle of a text is left out, in any case.
var words = []string{"error", "fail", "panic", "fatal", "warn", "exception", "denied", "not found"}

// place matches a position in a file: name.ext:12:3.
var place = regexp.MustCompile(`\w\.\w+:\d+:\d+`)

// hasWord reports whether a line mentions an error, a failure or a warning. One expression for all
// words takes 20 times as long, and the process whose output it is waits for it.
func hasWord(line string) bool {
	lower := strings.ToLower(line)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
}

// hasPlace reports whether a line has such a word, or a position in a file.
func hasPlace(line string) bool {
	return hasWord(line) || strings.Count(line, ":") > 1 && place.MatchString(line)
}

// Note says how many bytes were left out, in a line of its own.
func Note(left int64) string { return fmt.Sprintf("[… %d bytes left out …]\n", left) }

// Lines shortens text to at most limit bytes. It keeps the first 50 lines, the last 100, and, of
// the rest, the lines that look important, as far as they fit; a [Note] says how much was left out.
// If the first and last lines don't fit, or there are no others, it keeps the first third and the
// end. With a limit of 128 bytes or less it keeps only the start. It also returns how many bytes of
// text were left out.
func Lines(text string, limit int) (string, int) {
	if len(text) <= limit {
		return text, 0
	}
	if limit <= 2*noteRoom {
		short := Start(text, limit)
		return short, len(text) - len(short)
	}
	room := limit - noteRoom
	head, tail := firstLines(text, len(text)), 0
	if strings.Contains(text[head:], "\n") { // else there are fewer than 100 lines, perhaps of many bytes
		tail = lastLines(text, len(text))
	}
	if free := room - head - (len(text) - tail); head < tail && free >= 0 {
		middle := pick(text[head:tail], free, hasWord)
		left := tail - head - len(middle)
		return text[:head] + Note(int64(left)) + middle + text[tail:], left
	}
	start := Start(text, room/3)
	end := End(text, room-len(start))
	left := len(text) - len(start) - len(end)
	return start + "\n" + Note(int64(left)) + end, left
}

// firstLines returns where the first 50 lines of text end, or fewer if these have more than most
// bytes.
func firstLines(text string, most int) int {
	end := 0
	for range headLines {
		n := strings.IndexByte(text[end:], '\n') + 1
		if n == 0 || end+n > most {
			break
		}
		end += n
	}
	return end
}

// lastLines returns where the last 100 lines of text start, or fewer if these have more than most
// bytes.
func lastLines(text string, most int) int {
	start := len(text)
	for n := 0; n < tailLines && start > 0; n++ {
		at := strings.LastIndexByte(text[:start-1], '\n') + 1
		if len(text)-at > most {
			break
		}
		start = at
	}
	return start
}

// pick returns the important lines that fit into room bytes.
func pick(text string, room int, important func(line string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if b.Len()+len(line) <= room && important(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// An Output keeps what comes in pieces, such as the output of a process, within Limit bytes: all of
// it if it fits, else the first 50 lines, the last 100, and the first important ones between them,
// each within a third of the limit. A line with a position in a file is important, too. The pieces
// are valid UTF-8.
type Output struct {
	Limit int

	head []byte // the first lines, once the output doesn't fit
	over bool
	mid  []byte // important lines
	tail []byte // what follows: everything while it fits
	left int64  // omitted bytes between head and tail
}

// Add adds a piece.
func (o *Output) Add(text []byte) {
	o.tail = append(o.tail, text...)
	if len(o.head)+len(o.tail) > o.Limit {
		o.shorten()
	}
}

// shorten leaves out what isn't among the first or the last lines.
func (o *Output) shorten() {
	text, most := string(o.tail), o.Limit/3
	if !o.over {
		n := firstLines(text, most)
		if n == 0 { // the first line is longer
			n = len(Start(text, most))
		}
		o.over, o.head, text = true, []byte(text[:n]), text[n:]
	}
	from := lastLines(text, most)
	if from == len(text) { // the last line is longer
		from -= len(End(text, most))
	}
	picked := pick(text[:from], most-noteRoom-len(o.mid), hasPlace)
	o.left += int64(from - len(picked))
	o.mid = append(o.mid, picked...)
	if picked != "" && !strings.HasSuffix(picked, "\n") {
		o.mid = append(o.mid, '\n')
	}
	o.tail = append(o.tail[:0], text[from:]...)
}

// Text returns the kept output, at most Limit bytes, and how many bytes were left out.
func (o *Output) Text() (string, int64) {
	if !o.over {
		return string(o.tail), 0
	}
	o.shorten()
	note := Note(o.left)
	if len(o.head) > 0 && o.head[len(o.head)-1] != '\n' {
		note = "\n" + note
	}
	return string(o.head) + note + string(o.mid) + string(o.tail), o.left
}
