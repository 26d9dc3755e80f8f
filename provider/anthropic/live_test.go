//go:build live

package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestLive(t *testing.T) {
	wire.Live(t, func(client *http.Client) (provider.Provider, error) {
		return anthropic.New(anthropic.Config{Model: "claude-haiku-5-5", HTTPClient: client})
	}, "ANTHROPIC_API_KEY")
}
