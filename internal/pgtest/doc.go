// Package pgtest finds a PostgreSQL server for tests, or starts one.
//
//	func TestMain(m *testing.M) {
//		goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { pgtest.Stop(); os.Exit(code) }))
//	}
//
//	func TestStore(t *testing.T) {
//		dsn := pgtest.DSN(t) // skips t if there is no PostgreSQL
//		…
//	}
//
// If PAWL_POSTGRES is set, it is the DSN of the server, with a role that may create schemas.
// Otherwise pgtest looks for initdb and pg_ctl on PATH and in Debian's folders, and starts a server
// in a temporary folder, on a socket in that folder and without a port. The server runs as an
// ordinary user, since PostgreSQL rejects root, and ends with the process that started it, however
// that ends. The script install.sh beside this file installs PostgreSQL.
package pgtest
