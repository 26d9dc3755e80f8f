//go:build !unix && !windows

package fault

// ofErrno knows no error numbers here.
func ofErrno(error) (Class, bool) { return None, false }
