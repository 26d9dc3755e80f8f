package portfolio

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSessions(t *testing.T) {
	s := newStore(t)
	v, err := s.Session(t.Context(), "ann", "1")
	require.NoError(t, err)
	require.Zero(t, v)
	want := Session{Artifact: "a", LastTool: Humanizer, Thread: 2, Asked: "images?",
		Used: time.UnixMilli(1_700_000_000_000).UTC()}
	v, err = s.ChangeSession(t.Context(), "ann", "1", func(v *Session) { *v = want })
	require.NoError(t, err)
	require.Equal(t, want, v)
	v, err = s.ChangeSession(t.Context(), "ann", "1", func(v *Session) { v.Asked = "" })
	require.NoError(t, err)
	want.Asked = ""
	require.Equal(t, want, v)
	v, err = s.Session(t.Context(), "ann", "1")
	require.NoError(t, err)
	require.Equal(t, want, v)

	_, err = s.ChangeSession(t.Context(), "ben", "1", func(v *Session) { v.Artifact = "b"; v.Used = time.Now() })
	require.NoError(t, err)
	v, err = s.Session(t.Context(), "ann", "1")
	require.NoError(t, err)
	require.Equal(t, want, v, "the session of somebody else is another one")
}
