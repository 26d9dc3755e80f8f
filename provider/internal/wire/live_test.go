package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestALiveTestNeedsAKey(t *testing.T) {
	made := 0
	fresh := func(*http.Client) (provider.Provider, error) {
		made++
		return newToy(t, "http://wire.test", &http.Client{Transport: &Offline{Reply: Always(200, answered)}}, nil), nil
	}
	t.Setenv("PAWL_TEST_KEY", "")
	t.Run("without", func(t *testing.T) { Live(t, fresh, "PAWL_TEST_KEY") })
	require.Zero(t, made)
	t.Setenv("PAWL_TEST_KEY", "k")
	t.Run("with", func(t *testing.T) { Live(t, fresh, "PAWL_TEST_OTHER_KEY", "PAWL_TEST_KEY") })
	require.Equal(t, 1, made)
}
