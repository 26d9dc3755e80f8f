// Package roletest starts a test binary again, as another process that plays a role: a second
// writer, or one that is killed.
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
//		conflicts := roletest.Sum(t, a, b)   // each has printed a number, and ended without an error
//		…
//	}
//
// The environment variable PAWL_TEST_ROLE has the role of a process. A role communicates with its
// test by printing lines; its standard error is shown with the output of the tests. [AsNobody] and
// [Narrow] simulate a process without write permission and a full disk.
package roletest
