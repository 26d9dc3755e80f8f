package standin

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/tools/process"
)

// Unpack writes the little repository into a directory, which is created if it doesn't exist: a Go
// module without dependencies that breaks text into lines. One of its tests fails, and hides that
// another one would. If git is installed, everything is committed, and the repository has an author
// for further commits; without git, the stand-in says that it can't commit.
func Unpack(dir string) error {
	tree, err := fs.Sub(data, "data/repo")
	if err != nil {
		return err
	}
	err = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, ".txt")))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	git, missing := process.Lookup("git")
	if err != nil || missing != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Pawl"},
		{"config", "user.email", "pawl@example.com"}, {"add", "-A"}, {"commit", "-q", "-m", "Break text into lines"}} {
		r, err := process.Run(context.Background(), process.Command{Path: git.Path, Args: args, Env: process.SafeEnv(),
			Root: dir})
		if err == nil && r.ExitCode != 0 {
			err = fmt.Errorf("standin: git %s: %s", args[0], firstLine(r.Output))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
