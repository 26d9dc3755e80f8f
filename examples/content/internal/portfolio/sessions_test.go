package portfolio

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASessionBelongsToItsUserAndIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "content.db")
	s, err := Open(path)
	require.NoError(t, err)
	want := Session{Artifact: "a-1", Thread: 2, Used: time.UnixMilli(5_000).UTC()}
	v, err := s.ChangeSession(t.Context(), "ann", "main", func(v *Session) {
		require.Zero(t, *v)
		*v = want
	})
	require.NoError(t, err)
	require.Equal(t, want, v)
	require.NoError(t, s.Close())
	s, err = Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for user, want := range map[string]Session{"ann": want, "ben": {}} {
		v, err := s.ChangeSession(t.Context(), user, "main", func(*Session) {})
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
}
