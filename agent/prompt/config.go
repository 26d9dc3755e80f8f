package prompt

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/pawlkit/pawl/memory"
)

// Defaults of [Config].
const (
	// DefaultWarnTokens is the size of a system text from which on a warning is logged: 5,000 tokens, from the blueprint
	// that the three layers come from. It's a reminder to shorten, not a limit of any model.
	DefaultWarnTokens = 5000
	// DefaultMaxFile is the most bytes that a file may have: 256 KiB, some 65,000 tokens of English.
	DefaultMaxFile = 256 << 10
	// DefaultSeparator stands between sections. It's also what an agent puts between its instructions and its mode's.
	DefaultSeparator = "\n\n"
)

// Limits that nothing sets: far beyond any prompt, and there so that files that include each other many times over can't
// fill the memory.
const (
	maxFiles = 1000
	maxText  = 4 << 20  // bytes of a section with all that it includes
	maxTotal = 16 << 20 // bytes of all sections
	maxDepth = 32       // parts within parts
)

// A Config says which sections make which layer, in which order. A section is a file ("core/identity.md") or a part of one
// ("examples.md#plan"). Load copies what it needs: a Config may be changed afterwards.
type Config struct {
	// Core is the first layer, the same for all modes. Variables: Vars.
	Core []string
	// Modes are the second layer. Variables: Vars and the mode's own.
	Modes []Mode
	// Runtime is the third layer. Variables: Vars and RuntimeVars.
	Runtime []string
	// Extra are sections that belong to no layer, such as the prompt of a summary: for [Set.Section]. Variables: Vars.
	Extra []string

	// Vars are variables with their values, fixed for the life of the Set. A value must be valid UTF-8; it may be empty.
	Vars map[string]string
	// RuntimeVars are the names of variables that get their values from [Set.Runtime].
	RuntimeVars []string

	// Separator stands between sections and layers; "": [DefaultSeparator].
	Separator string
	// WarnTokens is the threshold of the size of a system text, in tokens; 0: [DefaultWarnTokens], below 0: none. What is
	// over it is logged once a load, and marked by [Set.Sizes].
	WarnTokens int
	// MaxFile is the most bytes that a file may have; 0 or less: [DefaultMaxFile].
	MaxFile int64
	// Count says how many tokens a text takes; nil: the estimate of package memory for a model that isn't known, which errs
	// on the high side (memory.NewEstimator(info).CountText for one that is). It's called by Load and on reloads only.
	Count func(text string) int
	// Logger gets warnings of size, and what reloads find; nil: nothing is logged.
	Logger *slog.Logger
	// Reload reads the files anew before every composition. It's for development: a composition costs the reading of all.
	Reload bool
}

// A Mode is a way of working, with its sections of the second layer.
type Mode struct {
	Name     string
	Sections []string
	// Vars are variables of this mode, with their values; their names are none of Config.Vars. A section that several modes
	// share may use a variable that each of them has.
	Vars map[string]string
}

// settle copies c, puts in the defaults and returns what is wrong with it.
func (c Config) settle() (Config, []error) {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, &Error{Problem: fmt.Sprintf(format, args...)})
	}
	checkVars := func(field string, vars map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			if !validName(name) {
				wrong("%s has the name %.64q; names are letters, digits, dots, dashes and underscores", field, name)
			}
			if !utf8.ValidString(vars[name]) {
				wrong("%s[%.64q] isn't valid UTF-8", field, name)
			}
		}
	}
	c.Core, c.Runtime, c.Extra = slices.Clone(c.Core), slices.Clone(c.Runtime), slices.Clone(c.Extra)
	c.Vars, c.RuntimeVars, c.Modes = maps.Clone(c.Vars), slices.Clone(c.RuntimeVars), slices.Clone(c.Modes)
	if len(c.Core)+len(c.Modes)+len(c.Runtime)+len(c.Extra) == 0 {
		wrong("the Config names no section: Core, Modes, Runtime and Extra are empty")
	}
	checkVars("Config.Vars", c.Vars)
	names := make(map[string]bool)
	for i := range c.Modes {
		m := &c.Modes[i]
		m.Sections, m.Vars = slices.Clone(m.Sections), maps.Clone(m.Vars)
		field := fmt.Sprintf("Config.Modes[%d]", i)
		switch {
		case m.Name == "":
			wrong("%s has no name", field)
		case !utf8.ValidString(m.Name):
			wrong("the name of %s isn't valid UTF-8", field)
		case names[m.Name]:
			wrong("two modes are named %q", m.Name)
		}
		names[m.Name] = true
		checkVars(field+".Vars", m.Vars)
		for _, name := range slices.Sorted(maps.Keys(m.Vars)) {
			if _, ok := c.Vars[name]; ok {
				wrong("the variable %q is in Config.Vars and in %s.Vars; one place decides its value", name, field)
			}
		}
	}
	for i, name := range c.RuntimeVars {
		_, fixed := c.Vars[name]
		switch {
		case !validName(name):
			wrong("Config.RuntimeVars has the name %.64q; names are letters, digits, dots, dashes and underscores", name)
		case slices.Contains(c.RuntimeVars[:i], name):
			wrong("Config.RuntimeVars has %q twice", name)
		case fixed:
			wrong("the variable %q is in Config.Vars and in Config.RuntimeVars; one place decides its value", name)
		}
		for j := range c.Modes {
			if _, ok := c.Modes[j].Vars[name]; ok {
				wrong("the variable %q is in Config.RuntimeVars and in Config.Modes[%d].Vars; one place decides its value", name, j)
			}
		}
	}
	if c.Separator == "" {
		c.Separator = DefaultSeparator
	}
	if !utf8.ValidString(c.Separator) {
		wrong("Config.Separator isn't valid UTF-8")
	}
	if c.WarnTokens == 0 {
		c.WarnTokens = DefaultWarnTokens
	}
	if c.MaxFile <= 0 {
		c.MaxFile = DefaultMaxFile
	}
	if c.Count == nil {
		c.Count = new(memory.Estimator).CountText
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errs
}

// named calls f with every section that the Config names, and the field that does.
func (c *Config) named(f func(section, field string)) {
	list := func(field string, sections []string) {
		for i, s := range sections {
			f(s, fmt.Sprintf("%s[%d]", field, i))
		}
	}
	list("Config.Core", c.Core)
	for i := range c.Modes {
		list(fmt.Sprintf("Config.Modes[%d].Sections", i), c.Modes[i].Sections)
	}
	list("Config.Runtime", c.Runtime)
	list("Config.Extra", c.Extra)
}
