package server_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/server"
)

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{config: func(c *server.Config) {
		c.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/begun" {
				_, _ = io.WriteString(w, "the first half")
				_ = http.NewResponseController(w).Flush()
			}
			panic("oops")
		})
	}})
	s.call("", "GET", "/", nil).refuses(http.StatusInternalServerError, portfolio.ToolExecutionFailed)
	require.Contains(t, s.log.String(), "oops")

	res, err := http.Get(s.url + "/begun")
	require.NoError(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	require.Error(t, err, "half an answer isn't a whole one")
	require.Equal(t, "the first half", string(got))
}
