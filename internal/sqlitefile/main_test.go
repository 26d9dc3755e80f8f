package sqlitefile_test

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// roleVar makes the test binary play another process.
const roleVar = "PAWL_SQLITEFILE_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) != "" {
		other()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// other reads paths of files, and says of each how it ended that another process wanted it for itself. SQLite grants that where it
// finds no lock.
func other() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		db, err := sql.Open("sqlite", in.Text())
		if err == nil {
			_, err = db.Exec("PRAGMA journal_mode = DELETE")
			err = errors.Join(err, db.Close())
		}
		fmt.Println(err)
	}
}
