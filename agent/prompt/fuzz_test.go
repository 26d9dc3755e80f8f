package prompt_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

var slashes = regexp.MustCompile(`(\\*)\{\{`)

// place matches an error with the line of its file.
var place = regexp.MustCompile(`^prompt: (?:[ab]\.md:(?:([1-9][0-9]*):)? )?.`)

// escape escapes double braces, so that the text is literal.
func escape(text string) string { return slashes.ReplaceAllString(text, `$1$1\{{`) }

// FuzzLoad checks that no file makes Load panic, that errors have a position within the file, that
// valid files give the same text each time, and that every text can be escaped.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"<role>\nYou are {{x}}.\n</role>\n", "{{> b.md}} {{> b.md#p}}", "{{#q}}\na\n{{/q}}\n{{> a.md#q}}",
		"\\{{x}} \\\\{{x}} {{{x}}}",
		"{{! a\nb }}{{! x }}c", "{{x\n}} {{", "\uFEFFa\r\nb\rc", "{{#p}}{{#q}}{{/p}}{{/q}}", "{{run}}", "\xff",
		"{{}}{{ }}{{#}}{{/}}{{>}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cfg := prompt.Config{
			Core: []string{"a.md"}, Runtime: []string{"a.md"}, Vars: map[string]string{"x": "{{X}}"},
			RuntimeVars: []string{"run"},
		}
		fsys := mem("a.md", text, "b.md", "{{#p}}\npart\n{{/p}}\n")
		s, err := prompt.Load(fsys, cfg)
		if err != nil {
			lines := strings.Count(text, "\n") + 1
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				m := place.FindStringSubmatch(e.Error())
				require.NotNil(t, m, "%v", e)
				line, _ := strconv.Atoi(m[1]) // none is 0
				require.LessOrEqual(t, line, lines, "%v", e)
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
