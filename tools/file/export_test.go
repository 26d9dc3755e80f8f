package file

import "context"

// LockWrites makes the writers of w wait until done is called.
func LockWrites(w *Workspace) (done func()) {
	_ = w.writeLock.Acquire(context.Background(), 1)
	return func() { w.writeLock.Release(1) }
}

// Search searches with ctx itself, without the context of a tool call in between.
func Search(ctx context.Context, t Tree, pattern string) error {
	_, err := search(ctx, t, searchInput{Pattern: pattern})
	return err
}

const (
	File     = KindFile
	MaxDepth = maxDepth
)

// Patch applies a patch to a tree, which may be another one than those of this package.
func Patch(ctx context.Context, t Tree, text string, paths ...string) ([]WriteResult, error) {
	list, err := patch(ctx, t, patchInput{Paths: paths, Patch: text})
	if err != nil {
		return nil, err
	}
	return writeAll(ctx, t, list)
}
