package prompt

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Set has prompts that were read and checked. It's safe for concurrent use. A nil or zero Set is
// empty.
type Set struct {
	// fixed at creation
	fsys fs.FS
	cfg  Config

	current atomic.Pointer[attempt]
	ticket  atomic.Uint64 // ticket of the newest reading that has started
	mu      sync.Mutex    // guards newest, and writing current
	newest  uint64        // the ticket of the reading in current
}

// An attempt is the result of one reading, with the texts in use since then: its own, or the last
// valid ones. It never changes.
type attempt struct {
	dir   *folder
	texts *texts
}

// texts has the composed texts of a Set. It never changes, except that sizes are set last.
type texts struct {
	separator    string
	version      string
	core         string
	coreSections [][]piece
	names        []string // names of the modes
	modes        map[string]*modeText
	runtime      [][]piece // with the variables that get their values at run time
	sections     map[string]sectionText
	sizes        Sizes
}

type modeText struct {
	own      string
	system   string // the core and the mode's own text
	sections [][]piece
}

type sectionText struct {
	text string
	err  error // its text depends on a mode or on run time
}

var nothing = &texts{}

// Load reads all sections in cfg from fsys, and checks that they exist, that every variable has a
// value where it is used, that no section includes itself, and that files are valid UTF-8, not
// empty, and no larger than cfg.MaxFile. The error joins all mistakes, most of them as an [*Error].
// Included files are read, too; other files aren't.
//
// A path in cfg or in a file is a path in fsys: it begins at the root and has no "..". fsys decides
// how links are followed.
func Load(fsys fs.FS, cfg Config) (*Set, error) {
	cfg, errs := cfg.settle()
	if fsys == nil {
		errs = append(errs, &Error{Problem: "the file system is nil; pass an fs.FS, such as os.DirFS or an embed.FS"})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	s := &Set{fsys: fsys, cfg: cfg}
	dir := gather(fsys, &s.cfg)
	t, err := s.make(dir)
	if err != nil {
		return nil, err
	}
	s.current.Store(&attempt{dir, t})
	s.warn(t)
	return s, nil
}

// make compiles the texts of a folder.
func (s *Set) make(dir *folder) (*texts, error) {
	t, errs := compile(s.fsys, &s.cfg, dir)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := t.measure(&s.cfg); err != nil {
		return nil, err
	}
	return t, nil
}

// Compose returns the system text of a mode: the core, and the mode's own text behind it. It is for
// agent.Config.Compose:
//
//	Compose: func(_ context.Context, in agent.ComposeInput) (string, error) { return set.Compose(in.Mode) },
//
// Of a Set without modes, Compose("") returns the core. For any other name the error is an
// [*UnknownError].
func (s *Set) Compose(mode string) (string, error) {
	t := s.fresh()
	if m := t.modes[mode]; m != nil {
		return m.system, nil
	}
	if mode == "" && len(t.modes) == 0 {
		return t.core, nil
	}
	return "", unknown("mode", mode, slices.Clone(t.names))
}

// Core returns the text of the first layer.
func (s *Set) Core() string { return s.fresh().core }

// Mode returns only the text of the second layer, for a host that appends it to the core itself.
// For an unknown name the error is an [*UnknownError].
func (s *Set) Mode(name string) (string, error) {
	t := s.fresh()
	if m := t.modes[name]; m != nil {
		return m.own, nil
	}
	return "", unknown("mode", name, slices.Clone(t.names))
}

// Modes returns the names of the modes, in the order of the Config.
func (s *Set) Modes() []string { return slices.Clone(s.loaded().names) }

// Runtime returns the text of the third layer with these values. It goes after the system text, so
// that the prompt cache keeps the text before it: as a message, or in memory.Context.
//
// Every variable that the layer uses needs a value, which may be empty; a section whose text is
// empty is left out. Values are inserted unchanged, except that bytes that aren't valid UTF-8
// become U+FFFD. The error joins all mistakes: an [*Error] for a value that is missing, an
// [*UnknownError] for one that isn't named in Config.RuntimeVars.
func (s *Set) Runtime(vars map[string]string) (string, error) {
	t := s.fresh()
	var known []string
	if s != nil {
		known = s.cfg.RuntimeVars
	}
	var wrong problems
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !slices.Contains(known, name) {
			wrong.add(unknown("runtime variable", name, slices.Clone(known)))
		}
	}
	missing := make(map[string]bool)
	var parts []string
	for _, section := range t.runtime {
		var b strings.Builder
		for _, p := range section {
			if p.name == "" {
				b.WriteString(p.text)
				continue
			}
			value, ok := vars[p.name]
			if !ok && !missing[p.name] {
				missing[p.name] = true
				wrong.at(p.file, p.line, "the variable %s has no value; pass one to Runtime, which may be empty",
					braces(p.name))
			}
			b.WriteString(strings.ToValidUTF8(value, "\uFFFD"))
		}
		if b.Len() > 0 {
			parts = append(parts, b.String())
		}
	}
	if len(wrong.list) > 0 {
		return "", errors.Join(wrong.list...)
	}
	return strings.Join(parts, t.separator), nil
}

// Section returns the text of a section by its name: a file in a layer or in Config.Extra, a file
// that one of these includes ("components/tools.md"), or a part of such a file
// ("components/tools.md#read"). The values of Config.Vars are inserted. If the section uses a
// variable of a mode or of run time, the error is an [*Error]; for an unknown name it is an
// [*UnknownError].
func (s *Set) Section(name string) (string, error) {
	t := s.fresh()
	if sec, ok := t.sections[name]; ok {
		return sec.text, sec.err
	}
	return "", unknown("section", name, slices.Sorted(maps.Keys(t.sections)))
}

// Version identifies the loaded texts by 12 hexadecimal digits: the beginning of a SHA-256 of all
// layers with the values of Config.Vars and Mode.Vars. Equal texts have the same version on every
// machine, and different texts practically always different ones. With Config.Reload it's that of
// the newest composition.
func (s *Set) Version() string { return s.loaded().version }

// join joins the texts that aren't empty with the separator.
func (t *texts) join(sections [][]piece) string {
	var out []string
	for _, s := range sections {
		if text := whole(s); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, t.separator)
}

func (t *texts) between(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + t.separator + b
}

// loaded returns the texts that were loaded last.
func (s *Set) loaded() *texts {
	if s != nil {
		if a := s.current.Load(); a != nil {
			return a.texts
		}
	}
	return nothing
}

// fresh returns the texts for a composition.
func (s *Set) fresh() *texts {
	if s == nil || !s.cfg.Reload {
		return s.loaded()
	}
	return s.reload()
}
