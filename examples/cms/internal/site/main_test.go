package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The test binary also plays other processes: this variable says which.
const roleVar = "PAWL_SITE_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		goleak.VerifyTestMain(m)
	case "die while filling":
		_, err := open(context.Background(), os.Args[1], []migration{migrations[0], func(ctx context.Context, tx *sql.Tx, now string) error {
			err := firstData(ctx, tx, now)
			if err == nil {
				os.Exit(7) // everything is written and nothing is committed
			}
			return err
		}})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case "write":
		if err := writeMeta(os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// writeMeta sets count keys of the home page's meta, one update each.
func writeMeta(path, prefix, count string) error {
	ctx := context.Background()
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err = s.UpdatePage(ctx, UpdatePage{Page: "home", Meta: map[string]any{fmt.Sprintf("%s%d", prefix, i): true}}); err != nil {
			break
		}
	}
	return errors.Join(err, s.Close())
}

// newSite opens a new file that is closed when the test ends.
func newSite(t testing.TB) *Site {
	t.Helper()
	return openSite(t, filepath.Join(t.TempDir(), "site.db"))
}

func openSite(t testing.TB, path string) *Site {
	t.Helper()
	s, err := Open(context.Background(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// refused checks that err is an Error with this code whose text holds these parts, and says a remedy.
func refused(t testing.TB, err error, code string, parts ...string) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Error())
	require.NotEmpty(t, e.Hint)
	for _, part := range parts {
		require.Contains(t, e.Error(), part)
	}
}
