package transcripts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is the page that says which scripts show which guarantee.
var page = filepath.Join("..", "..", "..", "docs", "guarantees.md")

var toScript = regexp.MustCompile(`\]\(\.\./agent/internal/transcripts/testdata/([^)]+)\)`)

func TestEachGuaranteeLeadsToItsScripts(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	linked := map[string]bool{}
	for _, m := range toScript.FindAllStringSubmatch(string(text), -1) {
		require.FileExists(t, filepath.Join("testdata", m[1]))
		linked[m[1]] = true
	}
	paths := scripts(t)
	require.GreaterOrEqual(t, len(paths), 40)
	for _, path := range paths {
		require.True(t, linked[filepath.Base(path)], "%s doesn't link %s", page, path)
	}
	files, err := os.ReadDir("testdata")
	require.NoError(t, err)
	require.Len(t, files, len(paths), "a file in testdata that is no script")
}

func TestEachScriptBeginsWithWhatItGuarantees(t *testing.T) {
	for _, path := range scripts(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		comment := ""
		for l := range strings.Lines(string(text)) {
			words, ok := strings.CutPrefix(l, "# ")
			if !ok {
				break
			}
			comment += words
		}
		comment = strings.TrimSpace(strings.ReplaceAll(comment, "\n", " "))
		require.True(t, strings.HasSuffix(comment, "."), "%s begins with no comment of whole sentences", path)
		require.LessOrEqual(t, strings.Count(comment, ". ")+1, 3, "%s: at most three sentences", path)
		require.NotContains(t, string(text), noReply, "%s: the model needs more replies", path)
	}
}
