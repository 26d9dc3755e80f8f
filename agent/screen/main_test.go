package screen_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/screen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newScreen(t *testing.T, cfg screen.Config) *screen.Screen {
	t.Helper()
	s, err := screen.New(cfg)
	require.NoError(t, err)
	return s
}
