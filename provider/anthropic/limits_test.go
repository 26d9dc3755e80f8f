package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestAnAnswerHasTheProvidersRateLimits(t *testing.T) {
	for _, header := range [][]string{nil, {"Anthropic-Ratelimit-Tokens-Limit", "5000"}} {
		m := connect(t, anthropic.Config{APIKey: "k"}, &wire.Offline{Reply: wire.Always(200, okay, header...)})
		var first provider.Chunk
		for c, err := range m.Stream(t.Context(), ask("x")) {
			require.NoError(t, err)
			if c.Kind == provider.KindStart {
				first = c
			}
		}
		if header == nil {
			require.Nil(t, first.Extra)
			continue
		}
		require.Equal(t, &provider.Extra{RateLimits: http.Header{header[0]: {header[1]}}}, first.Extra)
	}
}
