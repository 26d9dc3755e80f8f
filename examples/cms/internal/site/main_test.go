package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"die while filling": dieWhileFilling, "write": writeMeta}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// dieWhileFilling makes a file, and exits when everything is written and nothing is committed.
func dieWhileFilling(args []string) error {
	_, err := open(context.Background(), args[0], append(slices.Clone(migrations), func(tx *txn) error {
		if tx.err == nil {
			os.Exit(7)
		}
		return tx.err
	}))
	return err
}

// writeMeta sets keys of the home page's meta, with one update for each.
func writeMeta(args []string) error {
	ctx := context.Background()
	path, prefix := args[0], args[1]
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	s, err := Open(path, Small)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err = s.UpdatePage(ctx,
			UpdatePage{Page: "home", Meta: map[string]any{fmt.Sprintf("%s%d", prefix, i): true}}); err != nil {
			break
		}
	}
	return errors.Join(err, s.Close())
}

// newSite opens a new file that is closed when the test ends.
func newSite(t testing.TB) *Site {
	t.Helper()
	return openSite(t, newFile(t))
}

// newFile returns the path of a new site. To copy it is quicker than to make it.
var newFile = filetest.Copies(func(path string) error {
	s, err := Open(path, Small)
	if err != nil {
		return err
	}
	return s.Close()
})

func openSite(t testing.TB, path string) *Site {
	t.Helper()
	s, err := Open(path, Small)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// refused requires that err is an Error with this code, these parts in its text, and a hint.
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
