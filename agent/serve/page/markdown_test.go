package page

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// active matches what could run or load something if it is in a tag. What is shown as text has its
// < escaped.
var active = regexp.MustCompile(
	`(?i)<(script|img|svg|iframe|object|embed|style|link|meta|base|form|input|video|audio|math|template)|<[^>]*\s(on[a-z]+|style|src|srcset|id|name)\s*=|<[^>]*(javascript|vbscript|data|file):`)

var attacks = []string{
	"<script>alert(1)</script>",
	"text <img src=x onerror=alert(1)> text",
	"<svg onload=alert(1)><a xlink:href=\"javascript:alert(1)\">x</a></svg>",
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))",
	"[x](&#106;avascript:alert(1))", "[x](vbscript:x)",
	"[x](data:text/html;base64,PHNjcmlwdD4=)", "![x](data:image/svg+xml;base64,PHN2Zz4=)",
	"![x](https://evil.example/leak?secret)",
	"![x](javascript:alert(1))", "<javascript:alert(1)>", "<data:text/html,x>",
	"[x](https://a.example/\"onmouseover=alert(1)\")", "[x](https://a.example 'a\" onclick=\"alert(1)')",
	"```js\" onmouseover=\"alert(1)\n</code></pre><script>alert(1)</script>\n```",
	"<iframe src=\"https://evil.example\"></iframe>", "<style>*{display:none}</style>",
	"<base href=\"https://evil.example\">",
	"<a href=\"https://evil.example\" onclick=\"alert(1)\">x</a>", "<!-- --!><script>alert(1)</script> -->",
	"<![CDATA[<script>alert(1)</script>]]>",
	"<?php <script>alert(1)</script> ?>", "| <img src=x onerror=alert(1)> |\n|---|\n| <script>x</script> |",
	"# <img src=x onerror=alert(1)>", "- [ ] <input onfocus=alert(1) autofocus>", "[x]: javascript:alert(1)\n[x]",
	"<form action=//evil.example><input name=q>",
	"\x00<script>\x00", "&lt;script&gt;alert(1)&lt;/script&gt;", "\xff<script>alert(1)</script>",
}

func TestNothingActiveComesOutOfMarkdown(t *testing.T) {
	for _, attack := range attacks {
		require.NotRegexp(t, active, render(attack), attack)
	}
	require.Contains(t, render("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;",
		"raw HTML is shown as text")
	link := render("[a](https://a.example/x?y=1)")
	require.Contains(t, link, `rel="nofollow noreferrer noopener"`)
	require.Contains(t, link, `target="_blank"`)
}

func FuzzNothingActiveComesOutOfMarkdown(f *testing.F) {
	for _, attack := range attacks {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, source string) {
		require.NotRegexp(t, active, render(source))
		require.Equal(t, source, strings.Join(pieces(source), ""))
	})
}

func TestMarkdownIsSplitBetweenBlocks(t *testing.T) {
	for source, want := range map[string][]string{
		"a\n\nb":                            {"a\n\n", "b"},
		"a\nb":                              {"a\nb"},
		"- a\n\n- b\n\nc":                   {"- a\n\n- b\n\n", "c"},
		"```\na\n\nb\n```\n\nc":             {"```\na\n\nb\n```\n\n", "c"},
		"- x\n\n  ```\n  a\n\n  b\n  ```\n": {"- x\n\n  ```\n  a\n\n  b\n  ```\n"},
		"> a\n\n> b":                        {"> a\n\n", "> b"},
		"# a\nb\n\n## c\n\n1. d\n2. e":      {"# a\nb\n\n", "## c\n\n", "1. d\n2. e"},
		"a\n\n    code\n\n    more\n\nb":    {"a\n\n", "    code\n\n    more\n\n", "b"},
		"":                                  nil,
	} {
		require.Equal(t, want, pieces(source), "%q", source)
	}
}

func TestAListEndsBeforeALineThatIsNoItem(t *testing.T) {
	for source, want := range map[string]string{
		"- a\n- b\nThen.":           "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>Then.</p>\n",
		"1. a\n2) b\nThen.":         "<ol>\n<li>a</li>\n</ol>\n<ol start=\"2\">\n<li>b</li>\n</ol>\n<p>Then.</p>\n",
		"- a\n  more\n- b":          "<ul>\n<li>a\nmore</li>\n<li>b</li>\n</ul>\n",
		"```\n- a\nb\n```":          "<pre><code>- a\nb\n</code></pre>\n",
		"- a\n  - b\n    more\n- c": "<ul>\n<li>a\n<ul>\n<li>b\nmore</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n",
	} {
		require.Equal(t, want, render(source), "%q", source)
	}
}

// TestFinishedBlocksAreSentOnce counts the HTML blocks of a text that comes in small pieces.
func TestFinishedBlocksAreSentOnce(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample.md")
	require.NoError(t, err)
	var p textPart
	times := map[int]int{}
	for rest := string(sample); rest != ""; {
		n := min(1+rand.IntN(30), len(rest)) //nolint:gosec // any splits will do
		p.text.WriteString(rest[:n])
		rest = rest[n:]
		before := len(p.sent)
		if change := p.due("x"); change != nil {
			times[change.Blocks.From]++
			require.GreaterOrEqual(t, change.Blocks.From, before-1, "only the last one is sent again")
		}
	}
	require.Greater(t, len(times), 5)
	require.Nil(t, p.change("x", pieces(string(sample))), "the page has all of it")
}

func TestALongBlockIsSentInProportionToItsLength(t *testing.T) {
	var p textPart
	sent := 0
	p.text.WriteString("```go\n")
	for p.text.Len() < 256<<10 {
		p.text.WriteString("fmt.Println(\"a line of code\")\n")
		if change := p.due("x"); change != nil {
			sent += len(change.Blocks.HTML[0])
		}
	}
	require.Less(t, sent, 30*p.text.Len())
}
