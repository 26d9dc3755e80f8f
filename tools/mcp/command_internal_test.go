package mcp

import (
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
