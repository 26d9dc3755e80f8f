package file

import "context"

// LockWrites makes the writers of w wait until done is called.
func LockWrites(w *Workspace) (done func()) {
	w.writeLock <- struct{}{}
	return func() { <-w.writeLock }
}

// Search searches with ctx itself, without the context of a tool call in between.
func Search(ctx context.Context, t Tree, pattern string) error {
	_, err := search(ctx, t, searchInput{Pattern: pattern})
	return err
}
