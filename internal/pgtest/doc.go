// Package pgtest finds a PostgreSQL server for tests, or starts one.
//
//	func TestMain(m *testing.M) {
//		goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { pgtest.Stop(); os.Exit(code) }))
//	}
//
//	func TestStore(t *testing.T) {
//		dsn := pgtest.DSN(t) // skips t where there is no PostgreSQL
//		…
//	}
//
// Where PAWL_POSTGRES is set, it names the server: a DSN of a role that may make schemas. Otherwise initdb and pg_ctl are looked for,
// on PATH and where Debian puts them, and a server is started in a folder for temporary files, on a socket in that folder and
// on no port. It runs as an ordinary user, since PostgreSQL refuses root, and ends with the process that started it,
// however that ends. The script install.sh beside this file sees to it that there is one to start.
package pgtest
