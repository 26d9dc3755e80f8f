package screen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/secret"
	"github.com/pawlkit/pawl/tools"
)

// usualLength is how many characters a text may have if Config.MaxLength is 0.
const usualLength = 10_000

// mostLooked is how many bytes of a result patterns are looked for in. Some results are large, and
// what is found is only logged.
const mostLooked = 64 << 10

// preview is how many characters of a text the log shows.
const preview = 100

// A Config configures a [Screen]. Its zero value is a good choice.
type Config struct {
	// MaxLength is how many characters a prompt, a steering text, a reason or an answer may have,
	// after cleaning; 0: 10,000.
	MaxLength int
	// Patterns are looked for in this order; nil: those of [Patterns]. An empty list that isn't nil
	// looks for none.
	Patterns []Pattern
	// Logger gets a line for each refusal and each warning; nil: nothing is logged.
	Logger *slog.Logger
}

// A Screen checks texts. It is safe for concurrent use. Make it with [New].
type Screen struct {
	max      int
	patterns []Pattern
	logger   *slog.Logger
}

// New returns a Screen, or an error that names what is wrong in the configuration.
func New(cfg Config) (*Screen, error) {
	if cfg.MaxLength < 0 {
		return nil, fmt.Errorf("screen: MaxLength is %d; give a number of characters, or 0 for %d", cfg.MaxLength,
			usualLength)
	}
	s := &Screen{max: cmp.Or(cfg.MaxLength, usualLength), patterns: slices.Clone(cfg.Patterns),
		logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))}
	if cfg.Patterns == nil {
		s.patterns = Patterns()
	}
	for i, p := range s.patterns {
		if p.Name == "" || p.Match == nil {
			return nil, fmt.Errorf("screen: Patterns[%d] has no Name or no Match; give both", i)
		}
	}
	return s, nil
}

// An Error says why a text is refused. It doesn't contain the text.
type Error struct {
	Pattern string // the name of the one that was found; "" if the text is too long
	Length  int    // of the text, in characters
	Max     int    // how many it may have
}

// Error returns a sentence for the person who wrote the text. It doesn't say which pattern was
// found.
func (e *Error) Error() string {
	if e.Pattern == "" {
		return fmt.Sprintf("screen: message too long: it has %d characters; the maximum is %d", e.Length, e.Max)
	}
	return "screen: invalid input detected; please rephrase your request"
}

// Fault returns Denied, or Invalid for a text that is too long.
func (e *Error) Fault() fault.Class {
	if e.Pattern == "" {
		return fault.Invalid
	}
	return fault.Denied
}

// Check cleans a text as [Clean] does and checks it. It returns the names of the weak patterns that
// it found, and an *[Error] if the text must be refused.
func (s *Screen) Check(text string) (clean string, warnings []string, err error) {
	if s == nil || s.max == 0 {
		return "", nil, errEmpty
	}
	clean = Clean(text)
	if n := utf8.RuneCountInString(clean); n > s.max {
		return "", nil, &Error{Length: n, Max: s.max}
	}
	f := s.find(clean)
	if f.strong != "" {
		return "", f.weak, &Error{Pattern: f.strong, Length: utf8.RuneCountInString(clean), Max: s.max}
	}
	return clean, f.weak, nil
}

var errEmpty = errors.New("screen: the Screen is empty; make it with New")

// found is what was found in a text.
type found struct {
	weak   []string
	strong string   // the name of the first pattern that refuses
	last   *Pattern // nil: nothing was found
}

func (s *Screen) find(text string) (f found) {
	plain := fold(text)
	for i := range s.patterns {
		p := &s.patterns[i]
		if p.find(plain) < 0 {
			continue
		}
		f.last = p
		if !p.Weak {
			f.strong = p.Name
			break
		}
		f.weak = append(f.weak, p.Name)
	}
	return f
}

// Hooks returns the hooks that check each text from outside: see [agent.IncomingText]. Prompts,
// steering texts, reasons and answers are cleaned. A history, edited inputs and answers that are
// JSON objects or lists stay as they are and may have any length, but patterns are looked for in
// them, too.
func (s *Screen) Hooks() agent.Hooks {
	return agent.Hooks{Name: "screen", BeforeInput: s.beforeInput}
}

func (s *Screen) beforeInput(ctx context.Context, t *agent.IncomingText) error {
	if s == nil || s.max == 0 {
		return errEmpty
	}
	text, attrs := t.Text, []slog.Attr{slog.String("session", t.Session), slog.String("source", string(t.Source)),
		slog.String("user", t.User)}
	values, isJSON := jsonTexts(text)
	exact := t.Source == agent.FromHistory || t.Source == agent.FromEdit || t.Source == agent.FromAnswer && isJSON
	if !exact {
		text = Clean(text)
		if n := utf8.RuneCountInString(text); n > s.max {
			s.log(ctx, "screen: a text is too long", text, found{}, attrs...)
			return agent.Abort(&Error{Length: n, Max: s.max})
		}
	}
	all := text + "\n" + values
	f := s.find(all)
	if f.strong != "" {
		s.log(ctx, "screen: a text was refused", all, f, attrs...)
		return agent.Abort(&Error{Pattern: f.strong, Length: utf8.RuneCountInString(text), Max: s.max})
	}
	if f.last != nil {
		s.log(ctx, "screen: a text looks like an injection", all, f, attrs...)
	}
	t.Text = text
	return nil
}

// log writes one line, with a preview of the text that begins where the last pattern was found.
// Secrets, addresses and telephone numbers are removed before the text is folded and cut, because
// they aren't recognized after that.
func (s *Screen) log(ctx context.Context, message, text string, f found, attrs ...slog.Attr) {
	masked, _ := Mask(secret.Redact(text))
	shown := fold(masked)
	if f.last != nil {
		shown = shown[max(f.last.find(shown), 0):]
	}
	if runes := []rune(shown); len(runes) > preview {
		shown = string(runes[:preview])
	}
	names := cmp.Or(f.strong, strings.Join(f.weak, ", "))
	attrs = append(attrs, slog.String("pattern", names), slog.String("preview", shown))
	s.logger.LogAttrs(ctx, slog.LevelWarn, message, attrs...)
}

// jsonTexts returns the strings in a JSON object or list, where escapes may hide words, and whether
// text is one.
func jsonTexts(text string) (string, bool) {
	if text = strings.TrimSpace(text); text == "" || text[0] != '{' && text[0] != '[' {
		return "", false
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	var b strings.Builder
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				visit(e)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) { // in order, so that the same text gives the same answer
				b.WriteString(name + "\n")
				visit(v[name])
			}
		}
	}
	visit(v)
	return b.String(), true
}

// Wrap returns the tool t with its results cleaned and marked as data from outside by
// [tools.Untrusted], where from says where they come from. Patterns in the first 64 KiB of a text
// are logged and nothing is refused, because a page about injections isn't one. The tools of
// tools/web mark their results themselves. Errors of t aren't marked. All of it, errors too, is
// text from outside for policies: see [tools.Spec].Outside.
func (s *Screen) Wrap(t tools.Tool, from string) tools.Tool {
	return tools.Wrap(t, func(ctx context.Context, input json.RawMessage, next tools.Runner) (tools.Result, error) {
		if s == nil || s.max == 0 {
			return tools.Result{}, errEmpty
		}
		res, err := next(ctx, input)
		res.Parts, res.Outside = slices.Clone(res.Parts), true
		for i := range res.Parts {
			p := &res.Parts[i]
			if p.Kind != provider.PartText || p.Text == "" {
				continue
			}
			text := visibleText(p.Text)
			if f := s.find(text[:min(len(text), mostLooked)]); f.last != nil {
				name := ""
				if call, ok := tools.CallOf(ctx); ok {
					name = call.Name
				}
				s.log(ctx, "screen: a result looks like an injection", text, f, slog.String("tool", name))
			}
			p.Text = tools.Untrusted(from, text)
		}
		return res, err
	})
}
