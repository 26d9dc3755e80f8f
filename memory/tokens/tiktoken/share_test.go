package tiktoken_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/tokens/tiktoken"
)

// The estimate of a text as a share of its true count in o200k.
const (
	leastShare = .95
	mostShare  = 1.8
)

// A sample is a text whose estimate is held against its true count.
type sample struct {
	name, group string
	text        string
}

// TestTheEstimateIsCloseToTheCountInEachLanguageAndKindOfText prints the table of shares.
func TestTheEstimateIsCloseToTheCountInEachLanguageAndKindOfText(t *testing.T) {
	samples := append(languages(t), kinds(t)...)
	groups := make(map[string]int)
	named := make(map[string]bool)
	e := &memory.Estimator{Family: memory.FamilyOpenAI}
	for _, s := range samples {
		groups[s.group]++
		named[strings.SplitN(s.name, ":", 2)[0]] = true
		want := tiktoken.Count(tiktoken.O200k, s.text)
		share := float64(e.CountText(s.text)) / float64(want)
		t.Logf("%-7s %-32s %6d tokens, %6.2f characters a token, estimate %.2f", s.group, s.name, want,
			float64(len([]rune(s.text)))/float64(want), share)
		require.GreaterOrEqual(t, share, leastShare, s.name)
		require.LessOrEqual(t, share, mostShare, s.name)
	}
	require.Equal(t, []int{30, 10, 12}, []int{groups["fitted"], groups["new"], groups["script"]})
	for _, kind := range []string{"code", "JSON", "base64", "table", "newlines with tabs", "white space",
		"random letters", "punctuation", "digits", "URLs"} {
		require.True(t, named[kind], kind)
	}
}

// TestBytesDividedByAFactorAreNoEstimate says why an estimate looks at the text: with the largest
// factor that counts no text low, most texts count far too high. A factor that is learnt from a
// provider's counts comes too late for the first request.
func TestBytesDividedByAFactorAreNoEstimate(t *testing.T) {
	samples := append(languages(t), kinds(t)...)
	bytesEach, least := make([]float64, len(samples)), 9.0
	for i, s := range samples {
		bytesEach[i] = float64(len(s.text)) / float64(tiktoken.Count(tiktoken.O200k, s.text))
		least = min(least, bytesEach[i])
	}
	factor, high := least/leastShare, 0
	for i, s := range samples {
		if bytesEach[i]/factor > mostShare {
			high++
		}
		if s.name == "English" {
			t.Logf("English counts as %.2f of what it is", bytesEach[i]/factor)
		}
	}
	t.Logf("with one token for %.2f bytes, %d of %d texts count above %.2f", factor, high, len(samples), mostShare)
	require.Greater(t, high, len(samples)/2)
}

// languages returns the texts of testdata/languages.
func languages(t *testing.T) (all []sample) {
	data, err := os.ReadFile("testdata/languages/declaration.txt")
	require.NoError(t, err)
	for _, section := range strings.Split(string(data), "\n== ")[1:] {
		head, text, _ := strings.Cut(section, "\n")
		name, group, _ := strings.Cut(head, " ")
		all = append(all, sample{name, group, text})
	}
	return all
}

// kinds returns texts that are no prose. They are the same in each run.
func kinds(t *testing.T) []sample {
	read := func(name string) string {
		b, err := os.ReadFile("testdata/" + name + ".txt")
		require.NoError(t, err)
		return string(b)
	}
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, alphabet string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	small := "abcdefghijklmnopqrstuvwxyz"
	signs := "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	var lettered, numbered, markdown, csv, drawn, object strings.Builder
	markdown.WriteString("| id | name | city | amount |\n|---|---|---|---:|\n")
	for i := range 60 {
		name, city, n := []string{"Miller", "Kovács", "Nakamura"}[i%3],
			[]string{"Oslo", "New York", "Budapest", "Lima"}[i%4], r.IntN(1_000_000)
		lettered.WriteString(random(2+i%9, small) + " ")
		fmt.Fprintf(&numbered, "%8.3f %8.3f %8.3f\n", r.Float64()*100, r.Float64()*10, r.Float64())
		fmt.Fprintf(&markdown, "| %d | %s | %s | %d.%02d |\n", 1000+i, name, city, n/100, n%100)
		fmt.Fprintf(&csv, "%d,%s,%s,%d.%02d,2024-%02d-%02d\n", 1000+i, name, city, n/100, n%100, 1+i%12, 1+i%28)
		fmt.Fprintf(&drawn, "│%4d│%-10s│%-10s│%10d│\n├────┼──────────┼──────────┼──────────┤\n", 1000+i, name, city, n)
		fmt.Fprintf(&object, `{"id":%d,"name":%q,"tags":["a","b"],"place":{"city":%q,"open":true,"note":null}}`+"\n",
			1000+i, name, city)
	}
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	raw := []byte(random(3_000, string(bytes)))
	out := []sample{
		{name: "code: Go, JS, SQL", text: read("code")},
		{name: "JSON", text: read("json")},
		{name: "JSON: objects", text: object.String()},
		{name: "base64", text: base64.StdEncoding.EncodeToString(raw)},
		{name: "base64: short", text: base64.RawURLEncoding.EncodeToString(raw[:30])},
		{name: "table: markdown", text: markdown.String()},
		{name: "table: CSV", text: csv.String()},
		{name: "table: drawn", text: drawn.String()},
		{name: "table: numbers", text: numbered.String()},
		{name: "newlines with tabs", text: strings.Repeat("\n\t", 3_000)},
		{name: "newlines with tabs: more tabs", text: strings.Repeat("\n\t\t\t", 3_000)},
		{name: "newlines with tabs: any order", text: random(3_000, "\n\t")},
		{name: "white space", text: random(3_000, " \n\t")},
		{name: "white space: blanks", text: strings.Repeat(" ", 3_000)},
		{name: "white space: newlines", text: strings.Repeat("\n", 3_000)},
		{name: "white space: lines of Windows", text: strings.Repeat("\r\n", 3_000)},
		{name: "white space: empty lines", text: strings.Repeat("\n            ", 500)},
		{name: "random letters", text: lettered.String()},
		{name: "random letters: blanks anywhere", text: random(3_000, small+"    ")},
		{name: "random letters: no blanks", text: random(3_000, small)},
		{name: "random letters: capitals", text: random(3_000, strings.ToUpper(small)+"    ")},
		{name: "punctuation", text: random(3_000, signs)},
		{name: "punctuation: with blanks", text: random(3_000, signs+"        ")},
		{name: "digits", text: random(3_000, "0123456789")},
		{name: "digits: with blanks", text: random(3_000, "0123456789    ")},
		{name: "URLs", text: "https://www.example.com/products/2024/winter-jackets?color=blue&size=xl#reviews\n" +
			"https://encyclopedia.example.org/wiki/Universal_Declaration_of_Human_Rights\n" +
			"http://localhost:8080/api/v1/users/4711/orders?page=3&per_page=50\n" +
			"https://cdn.example.org/assets/js/app.3f2a9c81.min.js\n" +
			"https://example.hu/hirek/belfold/20240311/uj-jarvanyugyi-szabalyok-leptek-eletbe/\n"},
	}
	for i := range out {
		out[i].group = "kind"
	}
	return out
}
