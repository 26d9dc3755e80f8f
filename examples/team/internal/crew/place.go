package crew

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/agent/skill"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// A Place is where a team works: a directory of programs, and another one for what the team notes
// about its work.
type Place struct {
	Dir   string // of the programs; absolute
	State string // of staging copies and the outputs of checks; absolute, and outside of Dir
	// Goless says why no program can be built; empty if the go command is there.
	Goless string
	// Notes say what is wrong with skills of the directory; these can't be read by agents.
	Notes string

	ws     *file.Workspace
	skills []tools.Tool // the tool that shows them, if there are any
	gc     *golang      // nil with Goless
}

//go:embed all:skills
var shipped embed.FS

// skillsDir is where skills are in Dir.
const skillsDir = ".agents/skills"

// Open returns the Place of two directories, which it makes if they don't exist. A directory
// without a module gets one, and the skills that are shipped, unless it has skills.
func Open(dir, state string) (*Place, error) {
	p := &Place{}
	for _, d := range []struct {
		name string
		at   *string
	}{{dir, &p.Dir}, {state, &p.State}} {
		at, err := filepath.Abs(d.name)
		if err == nil {
			err = os.MkdirAll(at, 0o755)
		}
		if err == nil {
			*d.at, err = filepath.EvalSymlinks(at)
		}
		if err != nil {
			return nil, err
		}
	}
	if rel, err := filepath.Rel(p.Dir, p.State); err == nil && filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%s is inside %s, where the programs are; choose another place with -db", p.State,
			p.Dir)
	}
	if err := p.furnish(); err != nil {
		return nil, fmt.Errorf("%s can't be written: %w; choose another directory with -dir", p.Dir, err)
	}
	var err error
	if p.gc, err = findGo(); err != nil {
		p.Goless = err.Error()
	}
	if err := p.readSkills(); err != nil {
		return nil, err
	}
	p.ws, err = file.Open(p.Dir, file.Config{Protect: []string{".git", ".hg", ".svn", ".agents"},
		Hide: []string{".env*", "*.pem"}, MaxWalked: maxFiles})
	return p, err
}

// furnish writes what a new directory needs.
func (p *Place) furnish() error {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Stat("go.mod"); errors.Is(err, fs.ErrNotExist) {
		if err := root.WriteFile("go.mod", []byte("module workshop\n\ngo 1.24\n"), 0o644); err != nil {
			return err
		}
	}
	if _, err := root.Stat(skillsDir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fs.WalkDir(shipped, "skills", func(name string, d fs.DirEntry, err error) error {
		at := ".agents/" + name
		if err != nil || d.IsDir() {
			return errors.Join(err, root.MkdirAll(at, 0o755))
		}
		text, err := shipped.ReadFile(name)
		if err != nil {
			return err
		}
		return root.WriteFile(at, text, 0o644)
	})
}

// readSkills reads the skills of the directory.
func (p *Place) readSkills() error {
	list, wrong := skill.Dir(os.DirFS(filepath.Join(p.Dir, skillsDir)))
	for _, s := range list {
		for _, w := range s.Warnings {
			wrong = errors.Join(wrong, fmt.Errorf("skill: %s: %s", s.Name, w))
		}
	}
	if wrong != nil {
		p.Notes = wrong.Error()
	}
	if len(list) == 0 {
		return nil
	}
	set, err := skill.New(skill.Config{Skills: list})
	if err != nil {
		return err
	}
	p.skills = []tools.Tool{set.Tool()}
	return nil
}

// Close releases the directory.
func (p *Place) Close() error { return p.ws.Close() }
