package mock_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/tools/mock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files returns a file system of these files.
func files(list map[string]string) fs.FS {
	fsys := fstest.MapFS{}
	for name, text := range list {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// mocked returns the category "research" of a Set that answers from these files.
func mocked(t *testing.T, cfg mock.Config, list map[string]string) *mock.Category {
	t.Helper()
	cfg.Master, cfg.Files = mock.Mock, append(cfg.Files, files(list))
	return newSet(t, cfg).Category("research")
}

func newSet(t *testing.T, cfg mock.Config) *mock.Set {
	t.Helper()
	set, err := mock.New(cfg)
	require.NoError(t, err)
	return set
}

// ask makes a call whose outside function must not be called.
func ask[T any](t *testing.T, c *mock.Category, k mock.Key) (T, error) {
	t.Helper()
	return mock.Call(t.Context(), c, k, func(context.Context) (T, error) {
		t.Error("the outside call was made")
		var none T
		return none, errors.New("outside")
	})
}

func answered[T any](t *testing.T, c *mock.Category, k mock.Key) T {
	t.Helper()
	value, err := ask[T](t, c, k)
	require.NoError(t, err)
	return value
}
