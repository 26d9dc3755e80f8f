package terminal

import "strings"

// Wrapped returns what pieces of an answer write into a window.
func Wrapped(width int, pieces []string) string {
	var w wrapper
	var all strings.Builder
	for _, piece := range pieces {
		all.WriteString(w.add(piece, width))
	}
	return all.String()
}
