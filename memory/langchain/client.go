package langchain

import (
	"net/http"

	"github.com/pawlkit/pawl/internal/httpguard"
)

// HTTPClient returns a copy of c, or of http.DefaultClient if c is nil, for the option
// WithHTTPClient of a langchaingo model that embeds, or of a store. It follows redirects only
// within the scheme and the host of a request, and only if c.CheckRedirect permits them. The
// default client of langchaingo would send the texts to any host that a server redirects to with
// status 307 or 308.
func HTTPClient(c *http.Client) *http.Client { return httpguard.SameHost(c) }
