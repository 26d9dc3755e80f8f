//go:build live

package gemini_test

import (
	"net/http"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestLive(t *testing.T) {
	wire.Live(t, func(client *http.Client) (provider.Provider, error) {
		return gemini.New(gemini.Config{Model: "gemini-3.1-flash-lite", HTTPClient: client})
	}, "GEMINI_API_KEY", "GOOGLE_API_KEY")
}
