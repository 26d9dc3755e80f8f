package machine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheMachineIsPure: nothing in the package reads a clock, randomness or the environment, does
// I/O, or knows its driver.
func TestTheMachineIsPure(t *testing.T) {
	noImports := []string{"os", "net", "math/rand", "math/rand/v2", "crypto/rand", "github.com/pawlkit/pawl/agent"}
	noCalls := []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
		"time.NewTimer", "time.NewTicker", "time.Tick"}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	require.NotEmpty(t, files)
	for _, name := range files {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			require.NotContains(t, noImports, path, name)
			require.False(t, strings.HasPrefix(path, "os/") || strings.HasPrefix(path, "net/"), "%s imports %s", name,
				path)
			if path == "time" {
				require.Nil(t, spec.Name, "%s renames package time", name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok {
					require.NotContains(t, noCalls, pkg.Name+"."+sel.Sel.Name, name)
				}
			}
			if _, ok := n.(*ast.GoStmt); ok {
				require.Fail(t, "a goroutine", name)
			}
			return true
		})
	}
}
