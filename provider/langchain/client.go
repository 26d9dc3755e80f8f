package langchain

import (
	"net/http"

	"github.com/pawlkit/pawl/internal/httpguard"
)

// HTTPClient returns a copy of c, or of http.DefaultClient if c is nil, for the option
// WithHTTPClient of a langchaingo model. It follows redirects only within the scheme and the host
// of a request, and only if c.CheckRedirect permits them. langchaingo's default client would send
// the prompt to any host that a server redirects to with status 307 or 308, and its key too, if
// that isn't in the header Authorization. A redirect to another host is an error of class
// [fault.UserFixable] if the model reports the status. ollama's doesn't: its answer is incomplete.
func HTTPClient(c *http.Client) *http.Client { return httpguard.SameHost(c) }
