//go:build !unix

package pgtest

import "os/exec"

// asOrdinaryUser leaves cmd as it is: the user is ordinary.
func asOrdinaryUser(*exec.Cmd, string) error { return nil }
