package humanity

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A paragraph is one of the blind set, which was written before the patterns that it tries.
type paragraph struct{ kind, text string }

// blind returns the paragraphs: the manner of people (h) and of machines (m), lists (l), poems (p),
// quotes of machines (q), the typography of word processors (w) and German (d).
func blind(t *testing.T) (all []paragraph) {
	text, err := os.ReadFile("testdata/blind.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		kind, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		require.True(t, ok)
		all = append(all, paragraph{kind, strings.ReplaceAll(text, `\n`, "\n")})
	}
	require.Len(t, all, 40)
	return all
}

func TestTheBlindSetIsToldApart(t *testing.T) {
	clean, n := map[string]int{}, map[string]int{}
	for _, p := range blind(t) {
		n[p.kind]++
		r := Check(p.text)
		require.Equal(t, p.kind == "d", r.NotMeasured == "only English is, and this is German", p.text)
		if len(r.Found) == 0 {
			clean[p.kind]++
		} else {
			t.Logf("%s %v: %s", p.kind, r.Found, p.text)
		}
	}
	require.Equal(t, map[string]int{"h": 8, "m": 10, "l": 4, "p": 4, "q": 4, "w": 4, "d": 6}, n)
	require.LessOrEqual(t, clean["m"], 1)
	delete(clean, "m")
	delete(n, "m")
	require.Equal(t, n, clean)
}

func TestOnlyEnglishIsMeasured(t *testing.T) {
	for text, name := range map[string]string{
		"Nous avons raccourci le formulaire, et les clients sont plus contents.":         "French",
		"Hemos acortado el formulario y los clientes lo usan más, pero no por eso.":      "Spanish",
		"Abbiamo accorciato il modulo, ma non è questo che conta per i clienti.":         "Italian",
		"We hebben het formulier korter gemaakt, maar dat is niet van belang voor ons.":  "Dutch",
		"Reduzimos o formulário, mas não foi isso que uma cliente pediu para mais tarde": "Portuguese",
		"Мы сократили форму, и заявок стало больше.":                                     "another language",
	} {
		require.Equal(t, "Not measured: only English is, and this is "+name, Check(text).Summary, text)
		require.Equal(t, text, Revise(text))
	}
	require.Equal(t, "0 of 24 patterns found", Check("Milk, eggs and a pound of flour.").Summary)
}
