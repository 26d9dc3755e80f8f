package file

import "context"

// LockWrites makes the writers of w wait until done is called.
func LockWrites(w *Workspace) (done func()) {
	w.writeLock <- struct{}{}
	return func() { <-w.writeLock }
}

// Merge3 is merge3.
func Merge3(base, ours, theirs []byte) ([]byte, int) { return merge3(base, ours, theirs) }

// Search searches with ctx itself, without the context of a tool call in between.
func Search(ctx context.Context, t Tree, pattern string) error {
	_, err := search(ctx, t, searchInput{Pattern: pattern})
	return err
}
