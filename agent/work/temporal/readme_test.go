package temporal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/pawlkit/pawl/agent/journal/postgres" // the program uses them, and go.mod needs their modules
	_ "github.com/pawlkit/pawl/provider/fromenv"
)

func TestTheProgramOfTheReadmeCompiles(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, program, _ := strings.Cut(string(text), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	require.Contains(t, program, "package main")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	out, err := exec.Command("go", "vet", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	formatted, err := exec.Command("gofmt", file).Output()
	require.NoError(t, err)
	require.Equal(t, string(formatted), program)
}
