package adapter

import (
	"net/http"
	"net/url"

	"github.com/pawlkit/pawl/provider"
)

// A Cloud is a service that offers the API of a provider at addresses and with credentials of its
// own. All functions must be safe for concurrent use.
type Cloud struct {
	Name string   // the cloud's, for errors
	Base *url.URL // the address before the path of each request
	Key  Key      // returns the key; nil: none
	// AsksHost says that Key or Authorize calls a function of the host, which may ignore its
	// context.
	AsksHost bool

	// Authorize authorizes a request, which is complete otherwise. It returns what is secret in it,
	// besides the key. An error is that of the request.
	Authorize func(req *http.Request, body []byte, key string) (secrets []string, err error)
	// Convert returns what is sent instead of a body to a path of the provider's API. The path that
	// it returns is escaped. nil: the same.
	Convert func(model, path string, body []byte) (string, []byte, error)
	// Receive prepares the body of an answer without an error status. nil: it is the provider's.
	Receive func(*http.Response)
	// Explain completes an error of the API: its type, class and remedy. h has the headers of the
	// answer. nil: the error is the provider's.
	Explain func(e *provider.Error, h http.Header)
}

// Models of clouds. The packages anthropic and gemini set these functions when they're initialized,
// because an exported function of theirs would be one that users can't call. Whoever calls one
// imports the package, without a name if nothing else of it is needed; else it is nil.
var (
	Anthropic func(CloudConfig) CloudModel
	Gemini    func(CloudConfig) CloudModel // sends calls of tools without their ids, which Vertex AI rejects
)

// A CloudConfig says which model of a cloud to call, and how.
type CloudConfig struct {
	Cloud *Cloud
	Model string // for requests that name none

	// The fields of the adapter's Config.
	HTTPClient *http.Client
	Header     http.Header
	Models     []provider.ModelInfo
}

// A CloudModel is the Model of an adapter.
type CloudModel interface {
	provider.Provider
	provider.TokenCounter
	provider.Informer
	provider.Cancelable
	InfoOf(model string) (provider.ModelInfo, bool)
}

// In returns the configuration for a cloud, or the same if that is nil.
func (cfg ClientConfig) In(cloud *Cloud) ClientConfig {
	if cloud == nil {
		return cfg
	}
	cfg.Name, cfg.Base, cfg.cloud, cfg.Refused = cloud.Name, cloud.Base, cloud, nil
	cfg.AsksHost = cloud.AsksHost
	if cfg.Key = cloud.Key; cfg.Key == nil {
		cfg.Key = Fixed("")
	}
	return cfg
}

// converted returns the escaped path and the body of a request.
func (c *Cloud) converted(model, path string, body []byte) (string, []byte, error) {
	if c == nil || c.Convert == nil {
		return (&url.URL{Path: path}).EscapedPath(), body, nil
	}
	return c.Convert(model, path, body)
}
