package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/tools"
)

// A Config says which skills a [Set] has.
type Config struct {
	// Skills are the skills, in any order. Two with the same name are an error.
	Skills []*Skill
	// Untrusted marks descriptions, texts and files as data from outside ([tools.Untrusted]), and
	// what the tool answers as such ([tools.Spec].Outside). A model then follows them with more
	// care, or not at all.
	Untrusted bool
}

// A Set is the skills of an agent. It doesn't change, and is safe for concurrent use.
type Set struct {
	cfg    Config
	byName map[string]*Skill
}

// New returns a Set. It returns an error that names each skill with something wrong.
func New(cfg Config) (*Set, error) {
	s := &Set{cfg, make(map[string]*Skill)}
	var problems error
	for _, skill := range cfg.Skills {
		own := *cmp.Or(skill, new(Skill)) // one that is nil has no name
		err := own.check()
		if s.byName[own.Name] != nil {
			err = wrong("there are two with this name")
		}
		if err != nil {
			problems = errors.Join(problems, fmt.Errorf("skill: %s: %w", own.Name, err))
		}
		s.byName[own.Name] = &own
	}
	if problems != nil {
		return nil, problems
	}
	return s, nil
}

// A request is the input of the tool.
type request struct {
	Name string `json:"name" description:"of the skill"`
	File string `json:"file,omitempty" description:"a file of the skill; without it, the skill's text is read"`
}

// Tool returns the tool "skill". Its description lists the names and descriptions of the skills in
// the order of the names; if that takes more than about 3,000 tokens, each is cut at 60. Its
// result is the text of a skill, with the names of its files (at most 100), of the tools that were
// loaded, and, as a warning, of those that the agent doesn't have; or the text of one file. It
// changes nothing.
func (s *Set) Tool() tools.Tool {
	var count memory.Estimator
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		lines = append(lines, "- "+name+": "+strings.Join(strings.Fields(s.byName[name].Description), " "))
	}
	if count.CountText(strings.Join(lines, "\n")) > listTokens {
		for i, line := range lines {
			for text := []rune(line); count.CountText(lines[i]) > skillTokens; {
				text = text[:len(text)*7/8]
				lines[i] = strings.TrimSpace(string(text)) + "…"
			}
		}
	}
	list := strings.Join(lines, "\n")
	if s.cfg.Untrusted {
		list = tools.Untrusted("descriptions of skills", list)
	}
	about := "Reads a skill: how to do a kind of task. Call it before a task that one of these is for.\n\n" + list
	return tools.New(tools.Spec{Name: "skill", ReadOnly: true, NoBreaker: true, Description: about,
		Outside: s.cfg.Untrusted}, s.run)
}

// Lazy returns tools with those that a skill names as lazy ones ([tools.Lazy]): they are offered
// after one of their skills was read. The others stay as they are.
func (s *Set) Lazy(list ...tools.Tool) []tools.Tool {
	users := make(map[string][]string) // the skills of each tool
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		for _, tool := range s.byName[name].Tools {
			users[tool] = append(users[tool], name)
		}
	}
	list = slices.Clone(list)
	for i, t := range list {
		if of := users[nameOf(t)]; len(of) > 0 {
			list[i] = tools.Lazy(t, "call skill with the name "+strings.Join(of, " or ")+" first")
		}
	}
	return list
}

// nameOf returns the name of a tool, or "" if something is wrong with it, which agent.New says.
func nameOf(t tools.Tool) string {
	var err error
	defer contain.Panic(&err)
	if d, err := t.Define(); err == nil && d != nil {
		return d.Name()
	}
	return ""
}

// run executes a call.
func (s *Set) run(ctx context.Context, in request) (text string, err error) {
	skill := s.byName[in.Name]
	switch {
	case skill == nil:
		return "", fault.Errorf(fault.NotFound, "there is no skill %.100q; its description names all", in.Name)
	case in.File == "":
		text = skill.load(ctx)
	default:
		text, err = read(skill.Files, in.File)
	}
	if err == nil && s.cfg.Untrusted {
		text = tools.Untrusted("the skill "+in.Name, text)
	}
	return text, err
}

// load loads the tools of a skill, and returns its text with what it has.
func (s *Skill) load(ctx context.Context) string {
	var files, loaded, unknown []string
	if s.Files != nil {
		_ = fs.WalkDir(s.Files, ".", func(name string, e fs.DirEntry, err error) error {
			switch hidden := name != "." && strings.HasPrefix(path.Base(name), "."); {
			case len(files) == mostFiles:
				return fs.SkipAll
			case hidden && e.IsDir():
				return fs.SkipDir
			case err == nil && !hidden && e.Type().IsRegular() && name != "SKILL.md":
				files = append(files, visible.Name(name))
			}
			return nil
		})
	}
	for _, name := range s.Tools {
		if agent.LoadTools(ctx, name) == nil {
			loaded = append(loaded, name)
		} else {
			unknown = append(unknown, name)
		}
	}
	text := cmp.Or(s.Text, "The skill has no text.")
	for _, l := range []struct {
		about string
		names []string
	}{{"Files of this skill", files}, {"Tools of this skill, which can be called now", loaded},
		{"Warning: tools that it names and that don't exist here", unknown}} {
		if len(l.names) > 0 {
			text += "\n\n" + l.about + ": " + strings.Join(l.names, ", ")
		}
	}
	return text
}
