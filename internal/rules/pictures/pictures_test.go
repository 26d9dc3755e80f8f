package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestThePicturesAreWhatTheCodeSays(t *testing.T) {
	const root = "../../.."
	for name, draw := range pictures {
		svg, err := draw(root)
		require.NoError(t, err)
		there, err := os.ReadFile(filepath.Join(root, "docs", name))
		require.NoError(t, err)
		require.Equal(t, svg, string(there), "draw it anew: go run ./internal/rules/pictures")
	}
}
