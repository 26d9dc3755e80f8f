package tools_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// numbered returns n lines of width bytes each, the newline included, with text in line i.
func numbered(n, width int, special map[int]string) string {
	var b strings.Builder
	for i := range n {
		line := fmt.Sprintf("line %d %s", i, special[i])
		b.WriteString(line + strings.Repeat(".", width-1-len(line)) + "\n")
	}
	return b.String()
}

func TestShortTextIsNotCut(t *testing.T) {
	for _, s := range []string{"", "x", strings.Repeat("x", 100)} {
		require.Equal(t, s, tools.Cut(s, 100))
		require.Equal(t, s, tools.Cut(s, 1<<40))
	}
}

func TestTheFirstAndLastLinesAndImportantOnesAreKept(t *testing.T) {
	special := map[int]string{400: "an ERROR here", 500: "Not Found", 600: "warning: x"}
	in := numbered(1000, 50, special)
	got := tools.Cut(in, 10_000)
	require.LessOrEqual(t, len(got), 10_000)
	lines := strings.SplitAfter(in, "\n")
	require.True(t, strings.HasPrefix(got, strings.Join(lines[:50], "")))
	require.True(t, strings.HasSuffix(got, strings.Join(lines[900:1000], "")))
	require.NotContains(t, got, lines[50])
	require.NotContains(t, got, lines[899])
	for i := range special {
		require.Contains(t, got, lines[i])
	}
	require.Contains(t, got, fmt.Sprintf("[… %d bytes left out …]\n", (1000-50-100-3)*50))
	require.Equal(t, 50+100+3+1, strings.Count(got, "\n"))
}

func TestImportantLinesAreKeptAsFarAsTheyFit(t *testing.T) {
	special := map[int]string{}
	for i := range 1000 {
		special[i] = "error"
	}
	got := tools.Cut(numbered(1000, 50, special), 8000)
	require.LessOrEqual(t, len(got), 8000)
	require.Contains(t, got, "line 50 error")
	require.NotContains(t, got, "line 800 error")
	require.Contains(t, got, "line 900 error")
}

func TestTextOfFewOrLongLinesKeepsItsStartAndItsEnd(t *testing.T) {
	for name, in := range map[string]string{
		"one line":  strings.Repeat("a", 500) + strings.Repeat("b", 500),
		"two lines": strings.Repeat("a", 500) + "\n" + strings.Repeat("b", 500),
		"long lines": strings.Repeat(strings.Repeat("a", 99)+"\n", 500) +
			strings.Repeat(strings.Repeat("b", 99)+"\n", 500),
	} {
		t.Run(name, func(t *testing.T) {
			got := tools.Cut(in, 364)
			require.LessOrEqual(t, len(got), 364)
			require.True(t, strings.HasPrefix(got, in[:100]))
			require.True(t, strings.HasSuffix(got, in[len(in)-200:]))
			require.Contains(t, got, fmt.Sprintf("\n[… %d bytes left out …]\n", len(in)-300))
		})
	}
}

func TestATinyLimitKeepsTheStart(t *testing.T) {
	in := strings.Repeat("é", 500)
	for limit, want := range map[int]int{-5: 0, 0: 0, 1: 0, 2: 2, 3: 2, 127: 126, 128: 128} {
		require.Equal(t, in[:want], tools.Cut(in, limit))
	}
	require.Empty(t, tools.Cut("", -1))
}

func TestACutSplitsNoCharacter(t *testing.T) {
	for _, r := range []string{"é", "€", "😀", "a€"} {
		in := strings.Repeat(r, 1000)
		for limit := range 300 {
			got := tools.Cut(in, limit)
			require.LessOrEqual(t, len(got), limit)
			require.True(t, utf8.ValidString(got), "%q at %d", r, limit)
			require.Greater(t, len(got), limit-64-8)
		}
	}
}

func TestTextThatIsNoUTF8IsCutAllTheSame(t *testing.T) {
	in := strings.Repeat("\x80", 1000)
	require.Len(t, tools.Cut(in, 100), 100)
	require.Greater(t, len(tools.Cut(in, 300)), 230)
}

// bounded returns what is left of texts, as parts of one result.
func bounded(t *testing.T, limit int, texts ...string) (tools.Outcome, []string) {
	t.Helper()
	var parts []provider.Part
	for _, s := range texts {
		parts = append(parts, provider.TextPart(s))
	}
	out := execute(t, t.Context(), raw(tools.Spec{MaxResult: limit}, func(context.Context) (tools.Result, error) {
		return tools.Result{Parts: parts}, nil
	}))
	var got []string
	for _, p := range out.Parts {
		got = append(got, p.Text)
	}
	require.LessOrEqual(t, len(strings.Join(got, "")), limit)
	return out, got
}

func TestTheLimitIsForAllPartsTogether(t *testing.T) {
	long := strings.Repeat("x", 5000)
	out, got := bounded(t, 1000, "short", long, "end")
	require.Len(t, got, 3)
	require.Equal(t, "short", got[0])
	require.Equal(t, "end", got[2], "the last part is no less important than the first")
	require.Equal(t, tools.Cut(long, 992), got[1])
	require.Contains(t, got[1], fmt.Sprintf("%d bytes left out", out.Cut))

	_, got = bounded(t, 1000, long, long)
	require.Equal(t, tools.Cut(long, 500), got[0])
	require.Equal(t, tools.Cut(long, 1000-len(got[0])), got[1])

	out, got = bounded(t, 1000, "a", "b")
	require.Equal(t, []string{"a", "b"}, got)
	require.Zero(t, out.Cut)
}

func TestAPartOfWhichNothingIsLeftIsDropped(t *testing.T) {
	out, got := bounded(t, 1, "ab", "cd", "", "ef")
	for _, s := range got[:len(got)-1] {
		require.Empty(t, s)
	}
	require.Equal(t, []string{"", "e"}, got,
		"providers refuse empty text; what was empty before is the tool's business")
	require.Equal(t, 5, out.Cut)

	media := []provider.Part{provider.MediaPart(provider.Media{Type: "image/png"}),
		provider.TextPart(strings.Repeat("x", 500))}
	out = execute(t, t.Context(), raw(tools.Spec{MaxResult: 200}, func(context.Context) (tools.Result, error) {
		return tools.Result{Parts: media}, nil
	}))
	require.Len(t, out.Parts, 2)
	require.Equal(t, provider.PartMedia, out.Parts[0].Kind)
}

func FuzzCut(f *testing.F) {
	f.Add("", 0)
	f.Add("abc", 2)
	f.Add(strings.Repeat("é€😀\n", 100), 200)
	f.Add(strings.Repeat("x\n", 300), 250)
	f.Add(strings.Repeat("error\n", 300), 1100)
	f.Add(strings.Repeat("\xff\x80\n", 200), 300)
	f.Add(strings.Repeat("a", 400)+"\n"+strings.Repeat("\n", 200), 333)
	f.Fuzz(func(t *testing.T, in string, limit int) {
		got := tools.Cut(in, limit)
		if len(in) <= limit {
			require.Equal(t, in, got)
			return
		}
		require.LessOrEqual(t, len(got), max(limit, 0))
		if utf8.ValidString(in) {
			require.True(t, utf8.ValidString(got))
		}
		if limit <= 128 {
			require.True(t, strings.HasPrefix(in, got))
			return
		}
		at := strings.LastIndex(got, "[… ") // the note; a text that holds one itself is no matter
		require.GreaterOrEqual(t, at, 0)
		if strings.Contains(in, "[… ") {
			return
		}
		start, end := got[:at], got[at+strings.Index(got[at:], "]\n")+2:]
		require.True(t, strings.HasPrefix(in, start) || strings.HasPrefix(in, strings.TrimSuffix(start, "\n")),
			"the start is the text's")
		tail := min(len(end), 10)
		require.True(t, strings.HasSuffix(in, end[len(end)-tail:]), "the end is the text's")
	})
}
