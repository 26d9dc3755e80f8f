package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream"
)

// Name is this provider's name: of [provider.Opaque] data, of errors, and the key of
// [provider.Request.Options].
const Name = "anthropic"

// DefaultModel is the model if neither Config nor Request names one.
const DefaultModel = "claude-sonnet-5-5"

// Config configures a [Model]. The zero Config calls [DefaultModel] at Anthropic's own address with
// the key from the environment.
type Config struct {
	// Model is the model for requests that name none; empty: DefaultModel.
	Model string

	// APIKey is the key; empty: Key, else ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN as a bearer
	// token. A key from the environment is sent only to Anthropic's own address and to
	// ANTHROPIC_BASE_URL; see BaseURL.
	APIKey string
	// Key, if APIKey is empty, returns the key. It is called before each call, and once more after
	// the server rejected it with 401.
	Key func(ctx context.Context) (string, error)

	// BaseURL is the address without /v1/messages; empty: ANTHROPIC_BASE_URL, else Anthropic's own.
	// Any other address doesn't get the environment's key: it gets that of APIKey, Key or Header,
	// and without them none, as suits local gateways.
	BaseURL string
	// HTTPClient sends the requests; nil: http.DefaultClient. Its Timeout cuts long answers.
	// Redirects to another host aren't followed, because net/http would send the key along.
	HTTPClient *http.Client
	// Header is sent with each request and overrides the headers that the adapter sets, for example
	// anthropic-beta.
	Header http.Header

	// Models has properties of models and overrides the built-in ones. A model is found by its ID.
	Models []provider.ModelInfo
}

// A Model calls one model of Anthropic. [New] makes it. It is safe for concurrent use.
type Model struct {
	id     string
	known  []provider.ModelInfo
	client *adapter.Client
}

var (
	_ provider.Provider     = (*Model)(nil)
	_ provider.Informer     = (*Model)(nil)
	_ provider.TokenCounter = (*Model)(nil)
)

// New returns a Model. It makes no call.
//
// It returns an error that says what to do if there is no key: none in cfg, no cfg.Key and none in
// the environment. With a base URL, or a header that authorizes, no key is required: gateways and
// local servers may need none.
func New(cfg Config) (*Model, error) {
	m := newModel(&cfg)
	base, trusted, err := adapter.Base(Name, cfg.BaseURL, "ANTHROPIC_BASE_URL", ownURL)
	if err != nil {
		return nil, err
	}
	key, authorize, err := newKey(&cfg, trusted, base != nil)
	if err != nil {
		return nil, err
	}
	if base == nil {
		base, _ = url.Parse(ownURL) // a constant
	}
	// Accept a base URL that ends with /v1, because people write it this way for other clients.
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1")
	base.RawPath = ""
	m.client = adapter.NewClient(adapter.ClientConfig{
		Name: Name, Base: base, HTTPClient: cfg.HTTPClient, Header: http.Header{"Anthropic-Version": {"2023-06-01"}},
		Host: cfg.Header,
		Key:  key, Authorize: authorize, Decode: statusError,
		AsksHost: cfg.Key != nil && strings.TrimSpace(cfg.APIKey) == "",
	})
	return m, nil
}

func init() { adapter.Anthropic = inCloud }

// inCloud returns a Model of a cloud that offers the API, such as provider/bedrock.
func inCloud(cfg adapter.CloudConfig) adapter.CloudModel {
	m := newModel(&Config{Model: cfg.Model, Models: cfg.Models})
	m.client = adapter.NewClient(
		adapter.ClientConfig{HTTPClient: cfg.HTTPClient, Host: cfg.Header, Decode: statusError}.In(cfg.Cloud))
	return m
}

// newModel returns a Model without a client.
func newModel(cfg *Config) *Model {
	return &Model{id: cmp.Or(cfg.Model, DefaultModel), known: slices.Clone(cfg.Models)}
}

const ownURL = "https://api.anthropic.com"

// Info returns the properties of the model.
func (m *Model) Info() provider.ModelInfo {
	return modelInfo(m.id, m.known)
}

// InfoOf returns the properties of another model that requests may name, found like those of Info;
// an empty name means this Model's. It reports false if only the name is known.
func (m *Model) InfoOf(model string) (provider.ModelInfo, bool) {
	info := modelInfo(cmp.Or(model, m.id), m.known)
	return info, adapter.Informed(info)
}

// String returns the model's name.
func (m *Model) String() string { return Name + " " + m.id }

// EndsWithContext reports whether calls are sure to end with their context ([provider.Cancelable]).
// They are unless Config.HTTPClient has a Transport that isn't net/http's own, or Config.Key is
// called, because these functions of the host may ignore the context.
func (m *Model) EndsWithContext() bool { return m != nil && m.client.EndsWithContext() }

// Near reports whether the server is in the host's own network ([provider.Nearby]).
func (m *Model) Near() bool { return m != nil && m.client.Near() }

// Stream makes a call. See [provider.Provider].
func (m *Model) Stream(ctx context.Context, req *provider.Request) stream.Seq {
	return adapter.Stream(ctx, func(ctx context.Context, put func(provider.Chunk) bool) error {
		return m.run(ctx, req, put)
	})
}
