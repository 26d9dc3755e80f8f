package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream"
)

// Name is this provider's name: of [provider.Opaque] data, of errors, and the key of [provider.Request.Options].
const Name = "anthropic"

// DefaultModel is asked where neither Config nor Request names one.
const DefaultModel = "claude-sonnet-5-5"

// Config says which model to ask, and how to reach it. The zero Config asks [DefaultModel] at Anthropic's own address with
// the key from the environment.
type Config struct {
	// Model is the model for requests that name none; empty: DefaultModel.
	Model string

	// APIKey is the key; empty: Key, else ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN as a bearer token. What is in the
	// environment is sent only to Anthropic's own address and to ANTHROPIC_BASE_URL; see BaseURL.
	APIKey string
	// Key, if APIKey is empty, is asked for the key before each call, and once more after the server refused it with 401.
	Key func(ctx context.Context) (string, error)

	// BaseURL is the address without /v1/messages; empty: ANTHROPIC_BASE_URL, else Anthropic's own. Any other address doesn't
	// get the environment's key: it is sent what APIKey, Key or Header give, and without them no key, as suits local gateways.
	BaseURL string
	// HTTPClient sends the requests; nil: http.DefaultClient. A Timeout of its own cuts long answers. Redirects are followed
	// only if it has a CheckRedirect of its own: net/http would take the key along, to any host.
	HTTPClient *http.Client
	// Header is sent with each request and wins over the headers that the adapter sets, for example anthropic-beta.
	Header http.Header

	// Models adds to what is known of models, and wins over it. A model is found by its ID.
	Models []provider.ModelInfo
}

// A Model asks one model of Anthropic. [New] makes it. It is safe for concurrent use.
type Model struct {
	id     string
	info   provider.ModelInfo
	known  []provider.ModelInfo
	client sdk.Client
	cred   credential
}

var (
	_ provider.Provider     = (*Model)(nil)
	_ provider.Informer     = (*Model)(nil)
	_ provider.TokenCounter = (*Model)(nil)
)

// New returns a Model. It makes no call.
//
// It returns an error that says what to do if there is no key: none in cfg, no cfg.Key and none in the environment. With a
// base URL, or a header that authorises, a key isn't asked for: gateways and local servers may need none.
func New(cfg Config) (*Model, error) {
	m := &Model{id: cfg.Model, known: slices.Clone(cfg.Models)}
	if m.id == "" {
		m.id = DefaultModel
	}
	m.info = modelInfo(m.id, m.known)
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
	}
	base, trusted, err := adapter.Base(Name, cfg.BaseURL, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	if err != nil {
		return nil, err
	}
	if base != nil {
		// A base that ends with /v1 is taken as people write it for other clients.
		base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1") + "/"
		base.RawPath = ""
		opts = append(opts, option.WithBaseURL(base.String()))
	}
	opts = append(opts, option.WithHTTPClient(straight(cfg.HTTPClient)), option.WithMiddleware(boundErrors))
	if m.cred, err = newCredential(&cfg, trusted, base != nil); err != nil {
		return nil, err
	}
	m.cred.Hide = adapter.Hiding(cfg.Header)
	for name, values := range cfg.Header {
		for i, v := range values {
			if i == 0 {
				opts = append(opts, option.WithHeader(name, v))
			} else {
				opts = append(opts, option.WithHeaderAdd(name, v))
			}
		}
	}
	m.client = sdk.NewClient(opts...)
	return m, nil
}

// straight returns a client that follows no redirects, unless it has an opinion on them.
func straight(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	if c.CheckRedirect != nil {
		return c
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Info returns what is known of the model.
func (m *Model) Info() provider.ModelInfo {
	return adapter.Copied(m.info)
}

// InfoOf returns what is known of another model that requests may name, found as that of Info is; an empty name is the Model's own.
// It reports false if that is no more than the name.
func (m *Model) InfoOf(model string) (provider.ModelInfo, bool) {
	if model == "" {
		model = m.id
	}
	info := modelInfo(model, m.known)
	return adapter.Copied(info), info.Window > 0 || info.MaxOutput > 0 || info.Prices != nil
}

// String returns the model's name.
func (m *Model) String() string { return Name + " " + m.id }

// Stream asks the model. See [provider.Provider].
func (m *Model) Stream(ctx context.Context, req *provider.Request) stream.Seq {
	return adapter.Stream(ctx, func(ctx context.Context, put func(provider.Chunk) bool) error { return m.run(ctx, req, put) })
}
