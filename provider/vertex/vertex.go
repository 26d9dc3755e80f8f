package vertex

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"golang.org/x/oauth2"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	_ "github.com/pawlkit/pawl/provider/anthropic" // sets adapter.Anthropic
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream"
)

// Name is this provider's name in errors and in [provider.ModelInfo].
const Name = "vertex"

// DefaultModel is the model if neither Config nor Request names one.
const DefaultModel = gemini.DefaultModel

// Config configures a [Model]. The zero Config calls [DefaultModel] in the project of the
// environment.
type Config struct {
	// Model is the model for requests that name none; empty: DefaultModel. Examples:
	// gemini-3.5-flash, claude-sonnet-5-5.
	Model string

	// Project is the id of the Google Cloud project; empty: GOOGLE_CLOUD_PROJECT, else the project
	// of the credentials.
	Project string
	// Location is a region, us, eu, or global; empty: GOOGLE_CLOUD_LOCATION, else global.
	Location string

	// TokenSource returns the access tokens; nil: that of the application default credentials. It
	// should cache its tokens, as those of golang.org/x/oauth2 do. A call that is canceled doesn't
	// wait for it.
	TokenSource oauth2.TokenSource

	// BaseURL is the address before /v1/projects; empty: Google's own for the location. The token
	// is sent there.
	BaseURL string
	// HTTPClient sends the requests to models; nil: http.DefaultClient. Its Timeout cuts long
	// answers.
	HTTPClient *http.Client
	// Header is sent with each request and overrides the headers that the adapter sets.
	Header http.Header

	// Models has properties of models and overrides the built-in ones. A model is found by its ID.
	Models []provider.ModelInfo
}

// A Model calls models of Vertex AI. [New] makes it. It is safe for concurrent use.
type Model struct {
	id     string
	gemini adapter.CloudModel
	claude adapter.CloudModel
}

var (
	_ provider.Provider     = (*Model)(nil)
	_ provider.Informer     = (*Model)(nil)
	_ provider.TokenCounter = (*Model)(nil)
)

// location matches what may be part of a host's name.
var location = regexp.MustCompile(`^[a-z0-9-]+$`)

// New returns a Model. It looks for credentials, which may ask the metadata server of the machine,
// but doesn't call the API. Its error says what to do if there are no credentials or no project.
func New(ctx context.Context, cfg Config) (*Model, error) {
	source, project := cfg.TokenSource, ""
	if source == nil {
		var err error
		if source, project, err = defaultSource(ctx); err != nil {
			return nil, err
		}
	}
	project = cmp.Or(cfg.Project, os.Getenv("GOOGLE_CLOUD_PROJECT"), project)
	if project == "" {
		return nil, fault.NewFixable("vertex: no project",
			"set Config.Project or GOOGLE_CLOUD_PROJECT to the id of a Google Cloud project", nil)
	}
	place := cmp.Or(cfg.Location, os.Getenv("GOOGLE_CLOUD_LOCATION"), "global")
	if !location.MatchString(place) {
		return nil, fault.NewFixable("vertex: the location isn't valid",
			"set Config.Location to a region such as europe-west4, or to global", nil)
	}
	address := cmp.Or(cfg.BaseURL, ownURL(place))
	if _, err := adapter.ParseBase(Name, "Config.BaseURL", address, ownURL("global")); err != nil {
		return nil, err
	}
	m := &Model{id: cmp.Or(cfg.Model, DefaultModel)}
	inner := func(version string,
		convert func(model, path string, body []byte) (string, []byte, error)) adapter.CloudConfig {
		base, _ := url.Parse(address) // checked above
		base = base.JoinPath(version, "projects", project, "locations", place)
		return adapter.CloudConfig{Model: m.id, HTTPClient: cfg.HTTPClient, Header: cfg.Header, Models: cfg.Models,
			Cloud: &adapter.Cloud{Name: Name, Base: base, Key: tokens(source), Authorize: authorize, Convert: convert,
				Explain: explain}}
	}
	// The versions are those that Google's and Anthropic's own clients use.
	m.gemini = adapter.Gemini(inner("v1beta1", toGemini))
	m.claude = adapter.Anthropic(inner("v1", toClaude))
	return m, nil
}

// ownURL returns Google's address for a location.
func ownURL(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// of returns the adapter of a model; an empty name means this Model's.
func (m *Model) of(name string) adapter.CloudModel {
	if strings.Contains(cmp.Or(name, m.id), "claude") {
		return m.claude
	}
	return m.gemini
}

// Info returns the properties of the model.
func (m *Model) Info() provider.ModelInfo {
	info := m.of("").Info()
	info.Provider = Name
	return info
}

// InfoOf returns the properties of another model that requests may name; an empty name means this
// Model's. It reports false if only the name is known.
func (m *Model) InfoOf(model string) (provider.ModelInfo, bool) {
	info, ok := m.of(model).InfoOf(model)
	info.Provider = Name
	return info, ok
}

// String returns the model's name.
func (m *Model) String() string { return Name + " " + m.id }

// EndsWithContext reports whether calls are sure to end with their context ([provider.Cancelable]).
// They are unless Config.HTTPClient has a Transport that isn't net/http's own, which may ignore the
// context.
func (m *Model) EndsWithContext() bool { return m != nil && m.gemini.EndsWithContext() }

// Stream makes a call. See [provider.Provider].
func (m *Model) Stream(ctx context.Context, req *provider.Request) stream.Seq {
	if req == nil {
		return m.gemini.Stream(ctx, nil)
	}
	return m.of(req.Model).Stream(ctx, req)
}

// CountTokens returns the service's count of a request's input tokens. It costs a request, but no
// tokens.
func (m *Model) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	if req == nil {
		return 0, provider.ErrNilRequest
	}
	return m.of(req.Model).CountTokens(ctx, req)
}
