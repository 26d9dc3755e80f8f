package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// How text is cut: see [Cut].
const (
	headLines = 50
	tailLines = 100
)

// important marks lines that are worth keeping when the middle of an output is left out.
var important = []string{"error", "fail", "panic", "fatal", "warn", "exception", "denied", "not found"}

// bound cuts the text of parts to limit bytes in all. It returns how many bytes were left out. The input isn't changed.
func bound(parts []provider.Part, limit int) ([]provider.Part, int) {
	total := 0
	for i := range parts {
		total += len(parts[i].Text)
	}
	if total <= limit {
		return parts, 0
	}
	out, cut := slices.Clone(parts), 0
	room := limit
	for i := range out {
		text := Cut(out[i].Text, max(room, 0))
		cut += len(out[i].Text) - len(text)
		room -= len(text)
		out[i].Text = text
	}
	return out, max(cut, 0)
}

// Cut shortens text to at most limit bytes. It keeps the first 50 lines, the last 100, and of the rest those that look
// important (errors, failures, warnings), as far as they fit; a line says how much was left out. Text of few, long lines
// keeps its first third and its end. What it returns is valid UTF-8 if text is.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const noteRoom = 64
	if limit <= 2*noteRoom {
		return clipEnd(text, limit)
	}
	room := limit - noteRoom
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > headLines+tailLines {
		head := strings.Join(lines[:headLines], "")
		tail := strings.Join(lines[len(lines)-tailLines:], "")
		if len(head)+len(tail) <= room {
			middle := pick(lines[headLines:len(lines)-tailLines], room-len(head)-len(tail))
			left := len(text) - len(head) - len(middle) - len(tail)
			return head + note(left) + middle + tail
		}
	}
	head := clipEnd(text, room/3)
	tail := clipStart(text, room-len(head))
	return head + "\n" + note(len(text)-len(head)-len(tail)) + tail
}

func note(left int) string { return fmt.Sprintf("[… %d bytes left out …]\n", left) }

// pick returns the important lines that fit into room bytes.
func pick(lines []string, room int) string {
	var b strings.Builder
	for _, line := range lines {
		if b.Len()+len(line) > room {
			continue
		}
		low := strings.ToLower(line)
		if slices.ContainsFunc(important, func(w string) bool { return strings.Contains(low, w) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// clipEnd returns the longest start of s that has at most n bytes and doesn't split a character.
func clipEnd(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clipStart returns the longest end of s that has at most n bytes and doesn't split a character.
func clipStart(s string, n int) string {
	if n >= len(s) {
		return s
	}
	i := len(s) - max(n, 0)
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
