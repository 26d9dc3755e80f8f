package coding

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent/skill"
	"github.com/pawlkit/pawl/internal/visible"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

const (
	rulesFile  = ".pawl/rules.json" // of the folder, which only narrow what is permitted
	skillsDir  = ".agents/skills"
	outputs    = ".coder/output" // in the folder, so that the agent can read them
	mostNotes  = 16 << 10        // bytes of AGENTS.md
	mostListed = 80              // names of the folder
)

// open opens the folder. What the rules deny by name isn't found by a search either.
func (c *Coder) open() (err error) {
	c.files, err = file.Open(c.Dir, file.Config{Patch: true, History: c.beside("undo"), MaxShown: 64 << 10,
		Protect: []string{".git", ".hg", ".svn", ".pawl"},
		Hide:    hidden})
	if err != nil {
		return fmt.Errorf("%w; name a folder that can be used with -dir", err)
	}
	c.closers = append(c.closers, c.files.Close)
	c.told = sync.OnceValue(c.describe)
	return nil
}

// describe says what the folder is, when the agent first has to know.
func (c *Coder) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You work in the folder %s. Names of files are relative to it.\n", filepath.Base(c.Dir))
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return b.String()
	}
	defer root.Close()
	if module, _, ok := strings.Cut(head(root, "go.mod", 4<<10), "\n"); ok {
		fmt.Fprintf(&b, "go.mod says: %s\n", module)
	}
	list, _ := fs.ReadDir(root.FS(), ".")
	var names []string
	for _, e := range list[:min(len(list), mostListed)] {
		names = append(names, visible.Name(e.Name())+map[bool]string{true: "/"}[e.IsDir()])
	}
	fmt.Fprintf(&b, "It has %d entries: %s\n", len(list), strings.Join(names, " "))
	if text := head(root, "AGENTS.md", mostNotes); text != "" {
		b.WriteString("What AGENTS.md says about how code is written, built and tested here:\n" +
			tools.Untrusted("AGENTS.md", text))
	}
	return b.String()
}

// head returns the beginning of a file, "" if it can't be read.
func head(root *os.Root, name string, most int64) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return strings.ToValidUTF8(string(text), "")
}

// skills returns the tool for the skills of the folder, if it has some.
func (c *Coder) skills() ([]tools.Tool, error) {
	list, err := skill.Dir(os.DirFS(filepath.Join(c.Dir, skillsDir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Notes = append(c.Notes, "A skill can't be read: "+err.Error())
	}
	for _, s := range list {
		for _, w := range s.Warnings {
			c.Notes = append(c.Notes, fmt.Sprintf("The skill %s: %s.", s.Name, w))
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	set, err := skill.New(skill.Config{Skills: list, Untrusted: true})
	if err != nil {
		return nil, err
	}
	return []tools.Tool{set.Tool()}, nil
}
