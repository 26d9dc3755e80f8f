//go:build !unix

package sqlite_test

import (
	"errors"
	"os/exec"
	"testing"
)

func asNobody(t *testing.T, _ *exec.Cmd) { t.Skip("takes modes of files as Unix has them") }

func appendNarrow([]string) error { return errors.New("takes limits as Unix has them") }
