package bedrock

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream"
)

// Name is this provider's name: of errors, of [provider.ModelInfo], and for models that aren't
// Claude also of [provider.Opaque] data and the key of [provider.Request.Options].
const Name = "bedrock"

// Config configures a [Model].
type Config struct {
	// Model is the id of the model, an inference profile or an ARN, for requests that name none.
	// Required.
	Model string

	// Region is the region of the service; empty: that of the environment (AWS_REGION) or of
	// Amazon's configuration files.
	Region string
	// Credentials returns the credentials; nil: Amazon's default chain (environment, files, SSO,
	// roles). It is called before each call, so it should cache them, as [aws.NewCredentialsCache]
	// does.
	Credentials aws.CredentialsProvider

	// BaseURL is the address before /model; empty: Amazon's own for the region.
	BaseURL string
	// HTTPClient sends the requests; nil: http.DefaultClient. Its Timeout cuts long answers.
	HTTPClient *http.Client
	// Header is sent with each request and overrides the headers that the adapter sets. With an
	// Authorization, such as a Bedrock API key as a bearer token, requests aren't signed.
	Header http.Header

	// Models has properties of models and overrides the built-in ones of Claude, whose prices are
	// Anthropic's own. A model is found by its ID.
	Models []provider.ModelInfo
}

// A Model calls models of Amazon Bedrock. [New] makes it. It is safe for concurrent use.
type Model struct {
	id       string
	claude   adapter.CloudModel
	converse adapter.CloudModel // its requests and answers are converted
}

var (
	_ provider.Provider = (*Model)(nil)
	_ provider.Informer = (*Model)(nil)
)

// regions matches what may be part of a host's name.
var regions = regexp.MustCompile(`^[a-z0-9-]+$`)

// New returns a Model. It reads Amazon's configuration unless cfg has a region and credentials, but
// calls nothing.
func New(ctx context.Context, cfg Config) (*Model, error) {
	if cfg.Model == "" {
		return nil, fault.NewFixable("bedrock: no model",
			"set Config.Model to a model's id, an inference profile or an ARN", nil)
	}
	signed := cfg.Header.Get("Authorization") == ""
	if cfg.Region == "" || cfg.Credentials == nil && signed {
		found, err := config.LoadDefaultConfig(ctx)
		if err != nil { // its text could contain a part of a file
			return nil, fault.NewFixable("bedrock: Amazon's configuration can't be read", remedy, nil)
		}
		cfg.Region = cmp.Or(cfg.Region, found.Region)
		if cfg.Credentials == nil {
			cfg.Credentials = found.Credentials
		}
	}
	if !regions.MatchString(cfg.Region) {
		return nil, fault.NewFixable("bedrock: there is no region, or it isn't valid",
			"set Config.Region or AWS_REGION to a region such as us-east-1", nil)
	}
	base, err := adapter.ParseBase(Name, "Config.BaseURL", cmp.Or(cfg.BaseURL, ownURL(cfg.Region)), ownURL("us-east-1"))
	if err != nil {
		return nil, err
	}
	header := cfg.Header.Clone()
	betas := betasOf(header)
	_, cached := cfg.Credentials.(*aws.CredentialsCache) // whose Retrieve ends with its context
	inner := func(convert func(model, path string, body []byte) (string, []byte, error),
		write func(*events, *frame) error) adapter.CloudConfig {
		c := &adapter.Cloud{Name: Name, Base: base, Convert: convert, Explain: explain, AsksHost: signed && !cached,
			Authorize: authorizer(cfg.Credentials, cfg.Region)}
		c.Receive = func(res *http.Response) { res.Body = newEvents(res.Body, write) }
		return adapter.CloudConfig{Cloud: c, Model: cfg.Model, HTTPClient: cfg.HTTPClient, Header: header,
			Models: cfg.Models}
	}
	return &Model{
		id:       cfg.Model,
		claude:   adapter.Anthropic(inner(invocation(betas), (*events).invoked)),
		converse: adapter.Anthropic(inner(conversation, (*events).conversed)),
	}, nil
}

// ownURL returns Amazon's address for a region.
func ownURL(region string) string {
	u := url.URL{Scheme: "https", Host: "bedrock-runtime." + region + ".amazonaws.com"}
	if strings.HasPrefix(region, "cn-") {
		u.Host += ".cn"
	}
	return u.String()
}

// isClaude reports whether a model is called with the requests of the package anthropic.
func isClaude(model string) bool { return strings.Contains(model, "anthropic.claude") }

// Info returns the properties of the model.
func (m *Model) Info() provider.ModelInfo {
	info := m.claude.Info()
	info.Provider = Name
	return info
}

// InfoOf returns the properties of another model that requests may name; an empty name means this
// Model's. It reports false if only the name is known.
func (m *Model) InfoOf(model string) (provider.ModelInfo, bool) {
	info, ok := m.claude.InfoOf(model)
	info.Provider = Name
	return info, ok
}

// String returns the model's name.
func (m *Model) String() string { return Name + " " + m.id }

// EndsWithContext reports whether calls are sure to end with their context ([provider.Cancelable]).
// They are unless Config.HTTPClient has a Transport that isn't net/http's own, or
// Config.Credentials isn't an [aws.CredentialsCache], because such functions of the host may ignore
// the context.
func (m *Model) EndsWithContext() bool { return m != nil && m.claude.EndsWithContext() }

// Stream makes a call. See [provider.Provider].
func (m *Model) Stream(ctx context.Context, req *provider.Request) stream.Seq {
	if req == nil || isClaude(cmp.Or(req.Model, m.id)) {
		return m.claude.Stream(ctx, req)
	}
	plain, err := m.plain(req)
	if err != nil {
		return func(yield func(provider.Chunk, error) bool) { yield(provider.Chunk{}, err) }
	}
	answer := m.converse.Stream(ctx, plain)
	return func(yield func(provider.Chunk, error) bool) {
		for c, err := range answer {
			if !yield(renamed(c), err) {
				return
			}
		}
	}
}
