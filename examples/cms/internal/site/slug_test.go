package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASlugIsDerivedFromAnyName(t *testing.T) {
	for name, want := range map[string]string{
		"About Us":                           "about-us",
		"  --A  &  B!! ":                     "a-b",
		"Größe & Maße":                       "groesse-masse",
		"Crème brûlée":                       "creme-brulee",
		"Cre\u0300me":                        "creme",
		"Łódź":                               "lodz",
		"Smørrebrød Ærø":                     "smorrebrod-aero",
		"\ufb01le \ufb02ow o\ufb03ce \ufb06": "file-flow-office-st", // ligatures
		"\uff21bout \uff35s ２":               "about-us-2",          // wide letters
		"u\u0308ber i\u0306 x²":              "ueber-i-x2",
		"\u0438\u0306од":                     "yod", // a decomposed letter
		"О нас":                              "o-nas",
		"Καλημέρα":                           "kalimera",
		"Ann's team’s page":                  "anns-teams-page",
		"東京 2026":                            "2026",
		"日本語":                                "",
		"":                                   "",
		"X":                                  "x-1",
		"\xff\x00":                           "",
		"İstanbul":                           "istanbul",
		strings.Repeat("ab ", 50):            strings.TrimSuffix(strings.Repeat("ab-", 21), "-"),
		strings.Repeat("x", 200):             strings.Repeat("x", 64),
	} {
		require.Equal(t, want, slugify(name), "%q", name)
	}
}

func FuzzADerivedSlugFollowsTheRules(f *testing.F) {
	for _, s := range []string{"About", "Größe", "a--b", "%_'\"", strings.Repeat("ß", 100), "\u0301", "ʹ", "ǅ", "ﬁ½ŉ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		slug := slugify(name)
		if slug == "" {
			return
		}
		if got, err := slugFrom(slug, ""); err != nil || got != slug {
			t.Fatalf("%q gave %q: %v", name, slug, err)
		}
		if slugify(slug) != slug {
			t.Fatalf("%q isn't stable", slug)
		}
	})
}
