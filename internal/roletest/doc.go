// Package roletest starts a test binary again, as another process that plays a role: a second writer, or one that is killed.
//
//	var roles = roletest.Roles{"write": write} // func(args []string) error
//
//	func TestMain(m *testing.M) {
//		roles.Play() // returns in the process that runs the tests
//		goleak.VerifyTestMain(m)
//	}
//
//	func TestTwoProcessesLoseNothing(t *testing.T) {
//		path := filepath.Join(t.TempDir(), "file")
//		a, b := roletest.Start(t, "write", path), roletest.Start(t, "write", path)
//		roletest.Together(t, a, b)           // each has called roletest.Ready
//		conflicts := roletest.Sum(t, a, b)   // each has said a number, and ended well
//		…
//	}
//
// Which role a process plays is in the environment variable PAWL_TEST_ROLE. A role says something to its test by printing
// lines; what it prints on standard error is shown with what the tests print. [AsNobody] and [Narrow] make processes that may not
// write, or for which the disk is full.
package roletest
