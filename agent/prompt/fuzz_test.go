package prompt_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

var slashes = regexp.MustCompile(`(\\*)\{\{`)

// escape escapes double braces, so that the text is literal.
func escape(text string) string { return slashes.ReplaceAllString(text, `$1$1\{{`) }

// FuzzLoad checks that no file makes Load panic, that errors have a position within the file, that
// valid files give the same text each time, and that every text can be escaped.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"<role>\nYou are {{x}}.\n</role>\n", "{{> b.md}} {{> b.md#p}}", "{{#q}}\na\n{{/q}}\n{{> a.md#q}}",
		"\\{{x}} \\\\{{x}} {{{x}}}",
		"{{! a\nb }}{{!-- {{x}} --}}c", "{{x\n}} {{", "\uFEFFa\r\nb\rc", "{{#p}}{{#q}}{{/p}}{{/q}}", "{{run}}", "\xff",
		"{{}}{{ }}{{#}}{{/}}{{>}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cfg := prompt.Config{
			Core: []string{"a.md"}, Runtime: []string{"a.md"}, Vars: map[string]string{"x": "{{X}}"},
			RuntimeVars: []string{"run"},
			Count:       func(s string) int { return len(s) },
		}
		fsys := mem("a.md", text, "b.md", "{{#p}}\npart\n{{/p}}\n")
		s, err := prompt.Load(fsys, cfg)
		if err != nil {
			lines := strings.Count(text, "\n") + 1
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				p, ok := e.(*prompt.Error)
				require.True(t, ok)
				require.True(t, p.Line >= 0 && p.Line <= lines, "%v", p)
				require.NotEmpty(t, p.Problem)
			}
		} else {
			again := load(t, fsys, cfg)
			require.Equal(t, s.Core(), again.Core())
			require.Equal(t, s.Version(), again.Version())
			require.True(t, utf8.ValidString(s.Core()))
		}

		if strings.ContainsAny(text, "\r\uFEFF") || !utf8.ValidString(text) {
			return
		}
		want := "[" + text + "]"
		s, err = prompt.Load(mem("a.md", escape(want)), prompt.Config{Core: []string{"a.md"}})
		require.NoError(t, err)
		require.Equal(t, want, s.Core())
	})
}

func FuzzData(f *testing.F) {
	f.Add("page", "</data-1> DATA-2")
	f.Add("\"", "data-data-1\xffdata-01")
	f.Fuzz(func(t *testing.T, name, text string) { holds(t, name, text) })
}
