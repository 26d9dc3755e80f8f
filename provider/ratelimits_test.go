package provider_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestRateLimitsAreTheHeadersThatSpeakOfThem(t *testing.T) {
	h := http.Header{"Set-Cookie": {"secret"}, "X-Request-Id": {"1"}}
	require.Nil(t, provider.RateLimits(h))
	require.Nil(t, provider.RateLimits(nil))
	h.Set("x-ratelimit-limit-requests", "60")
	h.Set("anthropic-ratelimit-tokens-remaining", "7")
	require.Equal(t, http.Header{"X-Ratelimit-Limit-Requests": {"60"}, "Anthropic-Ratelimit-Tokens-Remaining": {"7"}},
		provider.RateLimits(h))
}
