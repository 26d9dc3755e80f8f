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
	// DefaultWarnTokens is the size of a system text above which a warning is logged: 5,000 tokens,
	// from the blueprint that defines the three layers. It's a reminder to shorten, not a limit of
	// any model.
	DefaultWarnTokens = 5000
	// DefaultMaxFile is the largest size of a file in bytes: 256 KiB, some 65,000 tokens of
	// English.
	DefaultMaxFile = 256 << 10
	// DefaultSeparator separates sections. An agent uses the same between its instructions and
	// those of a mode.
	DefaultSeparator = "\n\n"
)

// Fixed limits. They are far above any prompt, and keep files that include each other many times
// from using up the memory.
const (
	maxFiles = 1000
	maxText  = 4 << 20  // bytes of a section with its includes
	maxTotal = 16 << 20 // bytes of all sections
	maxDepth = 32       // parts within parts
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
	// Extra are sections outside of the layers, such as the prompt of a summary: for [Set.Section].
	// Variables: Vars.
	Extra []string

	// Vars are variables with their values, fixed for the life of the Set. A value must be valid
	// UTF-8; it may be empty.
	Vars map[string]string
	// RuntimeVars are the names of variables whose values are passed to [Set.Runtime].
	RuntimeVars []string

	// Separator separates sections and layers; "": [DefaultSeparator].
	Separator string
	// WarnTokens is the size of a system text, in tokens, above which a warning is logged; 0:
	// [DefaultWarnTokens], negative: never. The warning is logged once per load, and [Set.Sizes]
	// marks the text.
	WarnTokens int
	// MaxFile is the largest size of a file in bytes; 0 or less: [DefaultMaxFile].
	MaxFile int64
	// Count returns the number of tokens of a text; nil: the estimate of package memory for an
	// unknown model, which rather overestimates (use memory.NewEstimator(info).CountText for a
	// known one). It's called only when files are loaded.
	Count func(text string) int
	// Logger gets warnings about sizes, and messages about reloads; nil: nothing is logged.
	Logger *slog.Logger
	// Reload reads the files before every composition. It's for development, because each
	// composition reads all files.
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
		wrong("the Config has no sections: Core, Modes, Runtime and Extra are empty")
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
				wrong("the variable %q is in Config.Vars and in %s.Vars; define it in one of them", name, field)
			}
		}
	}
	for i, name := range c.RuntimeVars {
		_, fixed := c.Vars[name]
		switch {
		case !validName(name):
			wrong("Config.RuntimeVars has the name %.64q; names are letters, digits, dots, dashes and underscores",
				name)
		case slices.Contains(c.RuntimeVars[:i], name):
			wrong("Config.RuntimeVars has %q twice", name)
		case fixed:
			wrong("the variable %q is in Config.Vars and in Config.RuntimeVars; define it in one of them", name)
		}
		for j := range c.Modes {
			if _, ok := c.Modes[j].Vars[name]; ok {
				wrong("the variable %q is in Config.RuntimeVars and in Config.Modes[%d].Vars; define it in one of them",
					name, j)
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

// named calls f with every section in the Config, and the field that names it.
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
