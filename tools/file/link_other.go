//go:build !linux

package file

import "os"

// link gives a file another name. The standard library has no portable call that links between open
// directories, so the directories are found by their names once more; the caller checks the result.
func link(root *os.Root, source, target string, _ *os.Root, _ string, _ *os.Root, _ string) error {
	return root.Link(source, target)
}
