package mcp

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What belongs to a credential that nobody uses is forgotten: after 10 minutes, or when there are
// 1,000 others. What is used stays.
func TestCredentialsThatNobodyUsesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Name: "files", Command: []string{"true"}})
		require.NoError(t, err)
		defer s.Close()
		busy, _, err := s.use("busy")
		require.NoError(t, err)
		for i := range 3 * mostConns {
			_, done, err := s.use(fmt.Sprint("user", i))
			require.NoError(t, err)
			done()
			time.Sleep(time.Millisecond)
			require.LessOrEqual(t, len(s.conns.byCredential), mostConns)
		}
		require.Contains(t, s.conns.byCredential, fmt.Sprint("user", 3*mostConns-1))
		require.NotContains(t, s.conns.byCredential, "user0")
		time.Sleep(forgotten)
		_, done, err := s.use("the last")
		require.NoError(t, err)
		done()
		require.Len(t, s.conns.byCredential, 2)
		again, done, err := s.use("busy")
		require.NoError(t, err)
		done()
		require.Same(t, busy, again)
	})
}
