package file

import "context"

// TakeTurn keeps writers of w waiting until done is called.
func TakeTurn(w *Workspace) (done func()) {
	w.turn <- struct{}{}
	return func() { <-w.turn }
}

// Merge3 is merge3.
func Merge3(base, ours, theirs []byte) ([]byte, int) { return merge3(base, ours, theirs) }

// Search searches with ctx itself, without that of a call in between.
func Search(ctx context.Context, t Tree, pattern string) error {
	_, err := search(ctx, t, searchInput{Pattern: pattern})
	return err
}
