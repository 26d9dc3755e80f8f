package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPauseThatTheHostEndsLeavesNoTimer(t *testing.T) {
	g := NewGate(GateConfig{})
	g.Pause(time.Hour)
	g.Resume()
	require.False(t, g.backoff.timer.Stop(), "it was stopped")
	g.Pause(time.Hour)
	require.True(t, g.backoff.timer.Stop(), "the next pause sets it again")
}
