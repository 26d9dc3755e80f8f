package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/server"
)

func TestMarkdownIsKeptAndCodeIsNot(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# A\n\n- **b**\n- *c*":                   "<h1>A</h1>\n<ul>\n<li><strong>b</strong></li>\n<li><em>c</em></li>\n</ul>\n",
		"![a cat](/images/abc-1)":                 `<p><img src="/images/abc-1" alt="a cat"></p>` + "\n",
		"![x](https://evil.example/x.png)":        `<p><img alt="x"></p>` + "\n",
		"![x](/api/logout)":                       `<p><img alt="x"></p>` + "\n",
		"[x](javascript:alert(1))":                "<p>x</p>\n",
		"<script>alert(1)</script>":               "\n",
		`<img src=x onerror="alert(1)">`:          "\n",
		"a <b onclick=x>b</b>":                    "<p>a b</p>\n",
		"<style>p { color: red }</style>":         "\n",
		"```\n<script>\n```":                      "<pre><code>&lt;script&gt;\n</code></pre>\n",
		"| a | b |\n|---|---|\n| 1 | [x](ftp:) |": "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>x</td>\n</tr>\n</tbody>\n</table>\n",
	} {
		require.Equal(t, want, server.HTML(text), text)
	}
}
