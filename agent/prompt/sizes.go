package prompt

import (
	"fmt"
	"log/slog"
)

// A Size is how big a text is.
type Size struct {
	Name   string // of the section, or of the mode
	Bytes  int
	Tokens int  // by Config.Count
	Over   bool // over the threshold
}

// A ModeSize is how big a mode's system text is, and what of it is the mode's own.
type ModeSize struct {
	Size            // the core and the mode's own text
	Sections []Size // the mode's own, in their order
}

// Sizes says what takes how much.
type Sizes struct {
	Threshold int        // Config.WarnTokens; below 0: none
	Core      []Size     // the core's sections, in their order
	Modes     []ModeSize // in the order of the Config; of a Set without modes one without a name, for the core
	Runtime   []Size     // the runtime layer's sections, their variables empty
}

// Sizes returns the sizes of what is loaded: of every section, and of every system text. With Config.Reload it's that of
// the newest composition.
func (s *Set) Sizes() Sizes {
	z := s.loaded().sizes
	out := Sizes{Threshold: z.Threshold, Core: clone(z.Core), Runtime: clone(z.Runtime)}
	for _, m := range z.Modes {
		m.Sections = clone(m.Sections)
		out.Modes = append(out.Modes, m)
	}
	return out
}

func clone(sizes []Size) []Size { return append([]Size(nil), sizes...) }

// measure counts everything.
func (t *texts) measure(cfg *Config) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Problem: fmt.Sprintf("Config.Count panicked: %v", p)}
		}
	}()
	size := func(name, text string) Size {
		n := max(cfg.Count(text), 0)
		return Size{Name: name, Bytes: len(text), Tokens: n, Over: cfg.WarnTokens >= 0 && n > cfg.WarnTokens}
	}
	layer := func(names []string, sections [][]piece) []Size {
		out := make([]Size, len(names))
		for i, name := range names {
			out[i] = size(name, whole(sections[i]))
		}
		return out
	}
	t.sizes = Sizes{Threshold: cfg.WarnTokens, Core: layer(cfg.Core, t.coreSections), Runtime: layer(cfg.Runtime, t.runtime)}
	for _, m := range cfg.Modes {
		text := t.modes[m.Name]
		t.sizes.Modes = append(t.sizes.Modes, ModeSize{size(m.Name, text.system), layer(m.Sections, text.sections)})
	}
	if len(cfg.Modes) == 0 {
		t.sizes.Modes = []ModeSize{{Size: size("", t.core)}}
	}
	return nil
}

// warn logs the system texts that are over the threshold.
func (s *Set) warn(t *texts) {
	for _, m := range t.sizes.Modes {
		if m.Over {
			s.cfg.Logger.Warn("prompt: a system text is large; shorten it, or move what is seldom needed elsewhere",
				slog.String("mode", m.Name), slog.Int("tokens", m.Tokens), slog.Int("threshold", t.sizes.Threshold),
				slog.Int("bytes", m.Bytes), slog.String("version", t.version))
		}
	}
}
