package wirecases

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var parts = regexp.MustCompile(`(?m)^-- (answer|request|want) --\n`)

// TestServers plays the exchanges of each known server, in testdata/servers: what it answers, and
// how requests are sent that ask for what it lacks.
func TestServers(t *testing.T) {
	files, err := filepath.Glob("testdata/servers/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			about, cases := exchanges(t, path)
			var all strings.Builder
			all.WriteString(about)
			for i, c := range cases {
				c.server = name
				got := c.play(t)
				part, body := "answer", c.answer
				if c.request != "" {
					part, body = "request", c.request
				}
				fmt.Fprintf(&all, "-- %s --\n%s\n-- want --\n%s", part, body, got)
				if i < len(cases)-1 {
					all.WriteByte('\n')
				}
				if !*write {
					require.Equal(t, c.want, got, "exchange %d of %s", i+1, path)
				}
			}
			if *write {
				require.NoError(t, os.WriteFile(path, []byte(all.String()), 0o644))
			}
		})
	}
}

// exchanges returns what a file of a server says about it, and its exchanges.
func exchanges(t *testing.T, path string) (about string, cases []*wireCase) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	text := string(data)
	marks := parts.FindAllStringSubmatchIndex(text, -1)
	require.NotEmpty(t, marks, path)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0] - 1 // without the line break before the next part
		}
		body := text[m[1]:end]
		switch kind := text[m[2]:m[3]]; kind {
		case "want":
			require.NotEmpty(t, cases, path)
			if last := cases[len(cases)-1]; i+1 < len(marks) {
				last.want = body
			} else {
				last.want = text[m[1]:]
			}
		case "answer":
			cases = append(cases, &wireCase{path: path, api: "chat", answer: body})
		case "request":
			cases = append(cases, &wireCase{path: path, api: "chat", request: body})
		}
	}
	return text[:marks[0][0]], cases
}
