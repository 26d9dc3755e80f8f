package prompt

import (
	"fmt"
	"log/slog"
)

// A Size is the size of a text.
type Size struct {
	Name   string // name of the section or the mode
	Bytes  int
	Tokens int  // counted by Config.Count
	Over   bool // above the threshold
}

// A ModeSize is the size of a mode's system text, and of its sections.
type ModeSize struct {
	Size            // the core and the mode's own text
	Sections []Size // the mode's own sections, in order
}

// Sizes has the sizes of all texts.
type Sizes struct {
	Threshold int        // Config.WarnTokens; negative: none
	Core      []Size     // the core's sections, in order
	Modes     []ModeSize // in the order of the Config; without modes, one without a name for the core
	Runtime   []Size     // the runtime layer's sections, with empty variables
}

// Sizes returns the sizes of every loaded section and every system text. With Config.Reload they
// are those of the newest composition.
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

// measure counts the tokens of all texts.
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
	t.sizes = Sizes{Threshold: cfg.WarnTokens, Core: layer(cfg.Core, t.coreSections),
		Runtime: layer(cfg.Runtime, t.runtime)}
	for _, m := range cfg.Modes {
		text := t.modes[m.Name]
		t.sizes.Modes = append(t.sizes.Modes, ModeSize{size(m.Name, text.system), layer(m.Sections, text.sections)})
	}
	if len(cfg.Modes) == 0 {
		t.sizes.Modes = []ModeSize{{Size: size("", t.core)}}
	}
	return nil
}

// warn logs the system texts above the threshold.
func (s *Set) warn(t *texts) {
	for _, m := range t.sizes.Modes {
		if m.Over {
			s.cfg.Logger.Warn("prompt: a system text is large; shorten it, or move parts that are seldom needed",
				slog.String("mode", m.Name), slog.Int("tokens", m.Tokens), slog.Int("threshold", t.sizes.Threshold),
				slog.Int("bytes", m.Bytes), slog.String("version", t.version))
		}
	}
}
