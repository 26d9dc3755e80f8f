package portfolio

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/filetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newFile returns the path of a file in which nobody has done anything yet. To copy it is quicker
// than to make tables.
var newFile = filetest.Copies(func(path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	return s.Close()
})

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(newFile(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newArtifact(t testing.TB, s *Store) Artifact {
	t.Helper()
	a, err := s.Create(t.Context(), Artifact{User: "ann", Type: Blog, Title: "Remote work"})
	require.NoError(t, err)
	return a
}

// force puts an artifact into a status without a transition.
func force(t testing.TB, s *Store, id string, to Status) {
	t.Helper()
	_, err := s.db.Exec("UPDATE artifacts SET status = ? WHERE id = ?", to, id)
	require.NoError(t, err)
}

func refused(t testing.TB, err error, c Category) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, c, e.Category, e.Message)
}
