package rules

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the root of the repository, seen from this package.
const root = "../.."

// readOnce reads the repository once for all tests.
var readOnce = sync.OnceValues(func() ([]*file, error) { return read(root) })

// repository returns the repository's text files.
func repository(t *testing.T) []*file {
	t.Helper()
	files, err := readOnce()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// checkOnce type-checks package agent once for all tests.
var checkOnce = sync.OnceValues(func() (*checked, error) {
	files, err := readOnce()
	if err != nil {
		return nil, err
	}
	return check(root, "agent", files)
})

// checkedAgent returns the type-checked package agent.
func checkedAgent(t *testing.T) *checked {
	t.Helper()
	p, err := checkOnce()
	require.NoError(t, err)
	return p
}

// goFiles returns the Go files.
func goFiles(t *testing.T) []*file {
	t.Helper()
	var out []*file
	for _, f := range repository(t) {
		if f.ast != nil {
			out = append(out, f)
		}
	}
	return out
}
