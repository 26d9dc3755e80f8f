package mcp

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAServerFindsTheDirectoriesOfGoItself: a variable would hide what "go env -w" has set.
func TestAServerFindsTheDirectoriesOfGoItself(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	t.Setenv("GOPATH", "/src")
	t.Setenv("API_KEY", "secret")
	env := environment()
	require.Contains(t, env, "HOME=/home/ann")
	for _, kv := range env {
		require.False(t, strings.HasPrefix(kv, "GO") || strings.HasPrefix(kv, "API"), kv)
	}
}

func TestLinesOfStandardErrorAreLoggedWhole(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l := &logged{cfg: &Config{Name: "files", Logger: logger}}
	long := strings.Repeat("x", longestLine)
	for _, piece := range []string{"one\ntw", "o\r\n\nGr\xc3", "\xbc\xc3\x9fe\n", long, "y\n", "the last"} {
		n, err := l.Write([]byte(piece))
		require.NoError(t, err)
		require.Len(t, piece, n)
	}
	l.end()
	l.end()
	var lines []string
	for line := range strings.Lines(out.String()) {
		var record struct{ Server, Line string }
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		require.Equal(t, "files", record.Server)
		lines = append(lines, record.Line)
	}
	require.Equal(t, []string{"one", "two", "", "Grüße", long, "y", "the last"}, lines)
}
