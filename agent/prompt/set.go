package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Config defines the sections of each layer and their order. A section is a file
// ("core/identity.md") or a part of one ("examples.md#plan"). Load copies the Config: it may be
// changed afterwards.
type Config struct {
	// Core is the first layer, the same for all modes. Variables: Vars.
	Core []string
	// Modes are the second layer. Variables: Vars and the mode's own.
	Modes []Mode
	// Runtime is the third layer. Variables: Vars and RuntimeVars.
	Runtime []string

	// Vars are variables with their values, fixed for the life of the Set.
	Vars map[string]string
	// RuntimeVars are the names of variables whose values are passed to [Set.Runtime].
	RuntimeVars []string

	// Logger gets a warning about each system text of more than 5,000 tokens, as package memory
	// estimates them, once for each version, and messages about reloads; nil: nothing is logged.
	Logger *slog.Logger
	// Reload reads the files before every composition. It's for development, because each
	// composition reads all files, one after the other.
	Reload bool
}

// A Mode is a mode of the agent, with its sections of the second layer.
type Mode struct {
	Name     string
	Sections []string
	// Vars are variables of this mode; their names must not be in Config.Vars. A section that
	// several modes share may use a variable that each of them has.
	Vars map[string]string
}

// settle copies c, sets the defaults and returns the errors in it.
func (c Config) settle() (Config, error) {
	var wrong problems
	c.Core, c.Runtime, c.Modes = slices.Clone(c.Core), slices.Clone(c.Runtime), slices.Clone(c.Modes)
	c.Vars, c.RuntimeVars = maps.Clone(c.Vars), slices.Clone(c.RuntimeVars)
	if len(c.Core)+len(c.Modes)+len(c.Runtime) == 0 {
		wrong.at("", 0, "the Config has no sections: Core, Modes and Runtime are empty")
	}
	twice := func(name, field string, vars map[string]string) {
		if _, ok := vars[name]; ok {
			wrong.at("", 0, "the variable %q is in %s and in another place; define it in one of them", name, field)
		}
	}
	names := make(map[string]bool)
	for i := range c.Modes {
		m := &c.Modes[i]
		m.Sections, m.Vars = slices.Clone(m.Sections), maps.Clone(m.Vars)
		field := fmt.Sprintf("Config.Modes[%d]", i)
		switch {
		case m.Name == "":
			wrong.at("", 0, "%s has no name", field)
		case names[m.Name]:
			wrong.at("", 0, "two modes are named %q", m.Name)
		}
		names[m.Name] = true
		for _, name := range slices.Sorted(maps.Keys(m.Vars)) {
			twice(name, field+".Vars", c.Vars)
		}
		for _, name := range c.RuntimeVars {
			twice(name, "Config.RuntimeVars", m.Vars)
		}
	}
	for _, name := range c.RuntimeVars {
		twice(name, "Config.RuntimeVars", c.Vars)
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c, wrong.err()
}

// A Set has prompts that were read and checked. It's safe for concurrent use. A nil or zero Set is
// empty.
type Set struct {
	// fixed at creation
	fsys fs.FS
	cfg  Config

	mu    sync.Mutex // guards what follows, if cfg.Reload is set
	texts *texts     // the last valid ones
	wrong string     // the error of the last reading
}

// texts has the composed texts of a Set. It never changes.
type texts struct {
	version string
	core    string
	names   []string          // names of the modes
	modes   map[string]string // their system texts
	runtime [][]piece         // with the variables that get their values at run time
}

var nothing = &texts{}

// Load reads all sections in cfg from fsys, and checks that they exist, that every variable has a
// value where it is used, that no section includes itself, and that files are valid UTF-8, not
// empty, and no larger than 256 KiB. The error joins all mistakes, each with its file and line.
// Included files are read, too; other files aren't.
//
// A path in cfg or in a file is a path in fsys: it begins at the root and has no "..". fsys decides
// how links are followed.
func Load(fsys fs.FS, cfg Config) (*Set, error) {
	cfg, err := cfg.settle()
	if fsys == nil {
		err = errors.Join(err,
			&problem{text: "the file system is nil; pass an fs.FS, such as os.DirFS or an embed.FS"})
	}
	if err != nil {
		return nil, err
	}
	s := &Set{fsys: fsys, cfg: cfg}
	if s.texts, err = compile(fsys, &s.cfg); err != nil {
		return nil, err
	}
	s.texts.warn(&s.cfg)
	return s, nil
}

// Compose returns the system text of a mode: the core, and the mode's own text behind it, with an
// empty line between them. It is for agent.Config.Compose:
//
//	Compose: func(_ context.Context, in agent.ComposeInput) (string, error) { return set.Compose(in.Mode) },
//
// Of a Set without modes, Compose("") returns the core. For any other name the error lists the
// modes.
func (s *Set) Compose(mode string) (string, error) {
	t := s.fresh()
	if mode == "" && len(t.modes) == 0 {
		return t.core, nil
	}
	return t.system(mode)
}

// Mode returns only the text of the second layer, for a host that appends it to the core itself.
// For an unknown name the error lists the modes.
func (s *Set) Mode(name string) (string, error) {
	t := s.fresh()
	system, err := t.system(name)
	if err != nil || t.core == "" {
		return system, err
	}
	return strings.TrimPrefix(system[len(t.core):], separator), nil
}

func (t *texts) system(mode string) (string, error) {
	system, ok := t.modes[mode]
	if !ok {
		return "", &problem{text: fmt.Sprintf("there is no mode %.64q%s", mode, list("there are ", t.names, quote))}
	}
	return system, nil
}

// Core returns the text of the first layer.
func (s *Set) Core() string { return s.fresh().core }

// Runtime returns the text of the third layer with these values. It goes after the system text, so
// that the prompt cache keeps the text before it: as a message, or in memory.Context.
//
// Every variable that the layer uses needs a value, which may be empty; a section whose text is
// empty is left out. Values are inserted unchanged, except that bytes that aren't valid UTF-8
// become U+FFFD. The error joins all mistakes: values that are missing, and those that aren't named
// in Config.RuntimeVars.
func (s *Set) Runtime(vars map[string]string) (string, error) {
	t := s.fresh()
	var known []string
	if s != nil {
		known = s.cfg.RuntimeVars
	}
	var wrong problems
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !slices.Contains(known, name) {
			wrong.at("", 0, "there is no runtime variable %.64q%s", name, list("there are ", known, quote))
		}
	}
	bound, said := make([][]piece, len(t.runtime)), make(map[string]bool)
	for i, section := range t.runtime {
		bound[i] = bind(section, vars, func(p piece) {
			if !said[p.name] {
				said[p.name] = true
				wrong.at(p.file, p.line, "the variable %s has no value; pass one to Runtime, which may be empty",
					braces(p.name))
			}
		})
	}
	if err := wrong.err(); err != nil {
		return "", err
	}
	return join(bound), nil
}

// Version identifies the loaded texts by 12 hexadecimal digits: the beginning of a SHA-256 of all
// layers with the values of Config.Vars and Mode.Vars. Equal texts have the same version on every
// machine, and different texts practically always different ones. With Config.Reload it's that of
// the newest composition.
func (s *Set) Version() string {
	if s == nil || s.fsys == nil {
		return ""
	}
	if s.cfg.Reload {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	return s.texts.version
}

// fresh returns the texts for a composition: with Config.Reload those of the present files, or the
// last valid ones.
func (s *Set) fresh() *texts {
	if s == nil || s.fsys == nil {
		return nothing
	}
	if !s.cfg.Reload {
		return s.texts
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := compile(s.fsys, &s.cfg)
	switch {
	case err != nil && err.Error() != s.wrong:
		s.wrong = err.Error()
		s.cfg.Logger.Error("prompt: the files have changed and are invalid; the last valid text stays in use",
			slog.Any("error", err), slog.String("version", s.texts.version))
	case err == nil && (s.wrong != "" || t.version != s.texts.version):
		s.wrong, s.texts = "", t
		s.cfg.Logger.Info("prompt: the files have changed", slog.String("version", t.version))
		t.warn(&s.cfg)
	}
	return s.texts
}

// bind inserts the values of variables, and reports variables without one to missing.
func bind(pieces []piece, vars map[string]string, missing func(piece)) []piece {
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.name != "" {
			if value, ok := vars[p.name]; ok {
				p = piece{text: strings.ToValidUTF8(value, "\uFFFD")}
			} else {
				missing(p)
			}
		}
		out = append(out, p)
	}
	return out
}

// join joins the texts that aren't empty.
func join(sections [][]piece) string {
	var out []string
	for _, s := range sections {
		var b strings.Builder
		for _, p := range s {
			b.WriteString(p.text)
		}
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return strings.Join(out, separator)
}
