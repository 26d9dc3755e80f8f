//go:build !unix

package pgtest

import "os/exec"

// asOrdinaryUser does nothing on this system.
func asOrdinaryUser(*exec.Cmd, string) error { return nil }
