//go:build !unix

package roletest

import (
	"errors"
	"os/exec"
	"testing"
)

// AsNobody skips the test, because it needs Unix users.
func AsNobody(t testing.TB, _ *exec.Cmd) {
	t.Helper()
	t.Skip("needs users and file modes of Unix")
}

// Narrow fails, because it needs Unix limits.
func Narrow(int) (widen func() error, err error) {
	return nil, errors.New("roletest: needs limits of Unix")
}
