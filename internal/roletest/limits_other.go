//go:build !unix

package roletest

import (
	"errors"
	"os/exec"
	"testing"
)

// AsNobody skips the test: it takes users as Unix has them.
func AsNobody(t testing.TB, _ *exec.Cmd) {
	t.Helper()
	t.Skip("takes users and modes of files as Unix has them")
}

// Narrow fails: it takes limits as Unix has them.
func Narrow(int) (widen func() error, err error) {
	return nil, errors.New("roletest: takes limits as Unix has them")
}
