package terminal

// Wrapped returns what pieces of an answer write into a window.
func Wrapped(width int, pieces []string) (all string) {
	var w wrapper
	for _, piece := range pieces {
		all += w.add(piece, width)
	}
	return all
}
