package file

// TakeTurn keeps writers of w waiting until done is called.
func TakeTurn(w *Workspace) (done func()) {
	w.turn <- struct{}{}
	return func() { <-w.turn }
}

// Merge3 is merge3.
func Merge3(base, ours, theirs []byte) ([]byte, int) { return merge3(base, ours, theirs) }
