package skill

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
)

// A Skill is what a model can read when a task needs it. [Dir] reads skills from directories; one
// that is made in another way needs a Name and a Description.
type Skill struct {
	// Name has 1 to 64 lowercase letters, digits and single hyphens.
	Name string
	// Description says what the skill is for and when to use it, in 1 to 1,024 characters.
	Description   string
	License       string
	Compatibility string // what it needs, in at most 500 characters
	// Tools are the names of the tools that it uses, without the patterns of allowed-tools: Bash,
	// of "Bash(git:*)".
	Tools    []string
	Metadata map[string]string
	// Text is what the model reads, at most 256 KiB.
	Text string
	// Files are the files of the skill; nil: none.
	Files fs.FS
	// Warnings say what isn't as the format wants it, and what was made of it, for people who look
	// after skills.
	Warnings []string
}

var (
	names = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}]+(-[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}]+)*$`)
	// unquoted matches a value with a colon in it, which isn't YAML, but is often written.
	unquoted = regexp.MustCompile("(?m)^([a-z-]+): +([^\\s\"'\\[{>|&*!#%@`].*:(?: .*)?)$")
	// allowed matches the name of a tool, and perhaps a pattern.
	allowed = regexp.MustCompile(`([^\s,()]+)(\([^)]*\))?`)
	// front matches the front matter, and perhaps white space after its hyphens.
	front = regexp.MustCompile(`(?s)^---([ \t]*)\n(.*?\n)??---([ \t]*)(?:\n|$)`)
)

const (
	mostBytes   = 256 << 10 // of a text or a file
	mostFiles   = 100       // that are listed
	mostAbout   = 1024      // characters of a description
	mostNeeds   = 500       // characters of what a skill needs
	listTokens  = 3000      // of all names and descriptions; if they have more, each is cut
	skillTokens = 60        // of one, then
)

// Dir reads the skills of a directory: each of its directories with a SKILL.md is one. Others, and
// files, are left out. What is wrong with one skill is part of the error, joined, and doesn't hide
// the others, which are returned in the order of their names. What is only unusual is in
// [Skill.Warnings]: a skill that isn't named as its directory has its own name, or that of the
// directory if its own isn't one; a description that is too long is cut. A SKILL.md has at most
// 256 KiB. A directory that doesn't exist is an error that matches [fs.ErrNotExist].
//
// fsys is kept, and files of the skills are read from it later. If it knows symbolic links
// ([fs.ReadLinkFS]), as those of [os.DirFS] and [os.Root.FS] do, they are refused.
func Dir(fsys fs.FS) (list []*Skill, err error) {
	if fsys == nil {
		return nil, fault.New(fault.Permanent, "skill: the file system is nil")
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		err = wrong("skill: %w", err)
	}
	dirs := make(map[*Skill]string)
	for _, e := range entries {
		s, problem := readSkill(fsys, e)
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("skill: %s: %w", visible.Name(e.Name()), problem))
		} else if s != nil {
			list, dirs[s] = append(list, s), e.Name()
		}
	}
	own := func(s *Skill) int { // its name is that of its directory
		if s.Name == norm.NFKC.String(dirs[s]) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *Skill) int { // of equal names, first that of the directory
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(own(a), own(b)))
	})
	var last *Skill
	list = slices.DeleteFunc(list, func(s *Skill) bool {
		double := last != nil && last.Name == s.Name
		if double {
			err = errors.Join(err, fmt.Errorf("skill: %s: %w", visible.Name(dirs[s]),
				wrong("it is named %q, as the skill in %s is; give it another name", s.Name,
					visible.Name(dirs[last]))))
		} else {
			last = s
		}
		return double
	})
	return list, err
}

// readSkill reads the skill of an entry; nil if it has none.
func readSkill(fsys fs.FS, e fs.DirEntry) (s *Skill, err error) {
	file := path.Join(e.Name(), "SKILL.md")
	if _, err := fs.Stat(fsys, file); err != nil {
		return nil, nil
	}
	text, err := read(fsys, file)
	if err != nil {
		return nil, wrong("%w", err)
	}
	if s, err = parse(text); err != nil {
		return nil, err
	}
	switch dir := norm.NFKC.String(e.Name()); {
	case !isName(s.Name) && isName(dir):
		s.warn("the name %.200q isn't 1 to 64 lowercase letters, digits and single hyphens between them; that of the "+
			"directory is used", s.Name)
		s.Name = dir
	case s.Name != dir:
		s.warn("it is named %q, and its directory %.200q; they should be the same", s.Name, dir)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Files, err = fs.Sub(fsys, e.Name())
	return s, err
}

// read returns the text of a file. Neither it nor a directory on the way may be a symbolic link.
func read(fsys fs.FS, name string) (string, error) {
	if fsys == nil || !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return "", fault.Errorf(fault.Denied, "%.200q isn't the path of a file of the skill", name)
	}
	info, err := fs.Lstat(fsys, name)
	for at := name; err == nil && at != "."; at = path.Dir(at) {
		var i fs.FileInfo
		if i, err = fs.Lstat(fsys, at); err == nil && i.Mode()&fs.ModeSymlink != 0 {
			err = fault.Errorf(fault.Denied, "%s is a symbolic link, and links aren't followed", visible.Name(at))
		}
	}
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fault.Errorf(fault.Invalid, "%s isn't a file", visible.Name(name))
	case info.Size() > mostBytes:
		return "", fault.Errorf(fault.Invalid, "%s has %d bytes; at most %d are read", visible.Name(name), info.Size(),
			mostBytes)
	}
	data, err := fs.ReadFile(fsys, name)
	if err == nil && !utf8.Valid(data) {
		err = fault.Errorf(fault.Invalid, "%s isn't UTF-8 text", visible.Name(name))
	}
	return string(data), err
}

// parse reads a SKILL.md.
func parse(text string) (*Skill, error) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	m := front.FindStringSubmatch(text)
	if m == nil {
		return nil, wrong("it must begin with name and description between two lines of three hyphens")
	}
	s, err := decode(m[2])
	if err != nil {
		quoted := unquoted.ReplaceAllStringFunc(m[2], func(line string) string {
			key, value, _ := strings.Cut(line, ":")
			return key + ": '" + strings.ReplaceAll(strings.TrimSpace(value), "'", "''") + "'"
		})
		if s, _ = decode(quoted); s == nil {
			return nil, wrong("what is between the hyphens isn't YAML with name and description: %w", err)
		}
	}
	if m[1]+m[3] != "" {
		s.warn("a line of three hyphens has white space after them")
	}
	s.Description = s.shorten("the description", s.Description, mostAbout)
	s.Compatibility = s.shorten("compatibility", s.Compatibility, mostNeeds)
	s.Text = strings.TrimSpace(text[len(m[0]):])
	return s, nil
}

// warn adds a warning.
func (s *Skill) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// shorten returns a text with at most so many characters, and warns if it has more.
func (s *Skill) shorten(what, text string, most int) string {
	list := []rune(text)
	if len(list) <= most {
		return text
	}
	s.warn("%s has %d characters, and may have %d; the rest is left out", what, len(list), most)
	return strings.TrimSpace(string(list[:most-1])) + "…"
}

// decode reads front matter. Fields that the format doesn't have are left out.
func decode(front string) (_ *Skill, err error) {
	defer contain.Panic(&err)
	var f struct {
		Name, Description, License, Compatibility string
		Metadata                                  map[string]yaml.Node
		Tools                                     yaml.Node `yaml:"allowed-tools"`
	}
	if err := yaml.Unmarshal([]byte(front), &f); err != nil {
		return nil, err
	}
	s := &Skill{Name: norm.NFKC.String(f.Name), Description: strings.TrimSpace(f.Description), License: f.License,
		Compatibility: f.Compatibility, Metadata: make(map[string]string)}
	for key, value := range f.Metadata {
		s.Metadata[key] = value.Value
	}
	for _, node := range append(f.Tools.Content, &f.Tools) {
		for _, tool := range allowed.FindAllStringSubmatch(node.Value, -1) {
			if !slices.Contains(s.Tools, tool[1]) {
				s.Tools = append(s.Tools, tool[1])
			}
		}
	}
	return s, nil
}

// wrong returns an error that says what is wrong with a skill.
func wrong(format string, args ...any) error { return fault.Errorf(fault.UserFixable, format, args...) }

// isName reports whether a text is the name of a skill.
func isName(s string) bool { return names.MatchString(s) && utf8.RuneCountInString(s) <= 64 }

// check returns an error if a field isn't as the format wants it.
func (s *Skill) check() error {
	n := utf8.RuneCountInString(s.Description)
	switch {
	case !isName(s.Name):
		return wrong("the name %.200q isn't 1 to 64 lowercase letters, digits and single hyphens between them", s.Name)
	case n < 1 || n > mostAbout:
		return wrong("the description has %d characters; it must have 1 to %d", n, mostAbout)
	case utf8.RuneCountInString(s.Compatibility) > mostNeeds:
		return wrong("compatibility has more than %d characters", mostNeeds)
	case len(s.Text) > mostBytes:
		return wrong("the text has %d bytes; it may have at most %d", len(s.Text), mostBytes)
	}
	return nil
}
