package standin

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/tools/process"
)

//go:embed data
var data embed.FS

// must returns a value that is part of the program, which tests read, too.
func must[T any](v T, err error) T {
	if err != nil {
		panic("standin: " + err.Error())
	}
	return v
}

func load[T any](name string) *T {
	v := new(T)
	return must(v, json.Unmarshal(must(data.ReadFile("data/"+name)), v))
}

// archive returns the files of a txtar archive.
func archive(name string) map[string]string {
	text, _ := data.ReadFile("data/" + name + ".txtar")
	files := make(map[string]string)
	for _, part := range strings.Split("\n"+string(text), "\n-- ")[1:] {
		name, content, _ := strings.Cut(part, " --\n")
		files[name] = strings.TrimSuffix(content, "\n") + "\n"
	}
	return files
}

// Unpack writes the little repository into a directory with an absolute path: a Go module without
// dependencies that breaks text into lines. One of its tests fails, and hides that another one
// would. If git is installed, everything is committed, and the repository has an author for further
// commits; without git, the stand-in says that it can't commit.
func Unpack(dir string) error {
	for name, text := range archive("repo") {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	git, err := process.Lookup("git")
	if err != nil {
		return nil // it works without
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Pawl"},
		{"config", "user.email", "pawl@example.com"}, {"add", "-A"}, {"commit", "-q", "-m", "Break text into lines"}} {
		cmd := exec.Command(git.Path, args...)
		cmd.Dir, cmd.Env = dir, process.SafeEnv()
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("standin: git %s: %w: %s", args[0], err, said)
		}
	}
	return nil
}
