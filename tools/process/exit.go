package process

import (
	"path/filepath"
	"slices"
	"strings"
)

// answering are the programs whose exit code 1 is an answer: no match, a difference, or false. Of
// git it is that of some commands.
var answering = []string{"grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "[", "git grep", "git diff"}

// valued are the options of git before its command that take their value from the next argument.
var valued = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"}

// isAnswer reports whether the exit code of a program is an answer, and not a failure.
func isAnswer(path string, args []string, code int) bool {
	if code != 1 {
		return false
	}
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	for i := 0; name == "git" && i < len(args); i++ {
		switch {
		case slices.Contains(valued, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			name += " " + args[i]
		}
	}
	return slices.Contains(answering, name)
}
