package openai

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An API is one of the two protocols.
type API string

// The protocols.
const (
	// Auto is Responses at OpenAI's own address, and Chat elsewhere.
	Auto API = ""
	// Chat is the Chat Completions API, which most compatible servers speak.
	Chat API = "chat"
	// Responses is the Responses API.
	Responses API = "responses"
)

// Config configures a [Model]. Its zero value calls [DefaultModel] at OpenAI with the key in OPENAI_API_KEY.
//
// Printing a Config, with any verb or as JSON, reveals neither the key nor the values of headers.
type Config struct {
	// Model is the model of requests that name none. Empty: DefaultModel at OpenAI's own address; for other addresses each request must
	// name one.
	Model string

	// APIKey is the key. Empty: the key that Key returns, else the environment variable of the address:
	// OPENAI_API_KEY for OpenAI, OPENROUTER_API_KEY, GROQ_API_KEY, MISTRAL_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY,
	// PERPLEXITY_API_KEY, AZURE_OPENAI_API_KEY and some more for theirs. A key from the environment is never sent to another
	// address.
	APIKey string
	// Key returns the key. It is called before each call, and once more if the server rejects the key with status 401. It must be safe
	// for concurrent use. It isn't used if APIKey is set.
	Key func(ctx context.Context) (string, error)

	// BaseURL is the address that "/chat/completions" or "/responses" is appended to, such as https://openrouter.ai/api/v1.
	// A query in it (?api-version=…) goes with every request. Empty: the environment variable OPENAI_BASE_URL, else
	// https://api.openai.com/v1.
	BaseURL string
	// API is the protocol; see Auto.
	API API

	// Name is the provider's name in errors and in the [provider.ModelInfo]. It also marks the opaque data of this server,
	// which is only sent back to servers of that name. Empty: "openai" for OpenAI's own address, else the host of BaseURL.
	Name string

	HTTPClient *http.Client // nil: http.DefaultClient
	// Header has additional headers for every request. An Authorization header replaces the key if no other is given:
	// then none is taken from the environment. Values of headers whose names suggest a secret are removed from errors.
	Header http.Header
	// Models has the host's information about models, which takes precedence over the built-in table; see [Models].
	Models []provider.ModelInfo
}

// Format writes c without its key, the values of its headers and the query of its address.
func (c Config) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "openai.Config{Model:%q BaseURL:%q API:%q Name:%q APIKey:%t Key:%t Header:%q}", c.Model, publicURL(c.BaseURL), string(c.API), c.Name,
		c.APIKey != "", c.Key != nil, slices.Sorted(maps.Keys(c.Header)))
}

// MarshalText returns what Format writes.
func (c Config) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(c)), nil }

// A secret is a key that can't be printed: for a function, fmt prints only its address, and it calls no methods of values in unexported
// fields. Nil means no key.
type secret func() string

func newSecret(key string) secret {
	if key == "" {
		return nil
	}
	return func() string { return key }
}

// reveal returns the key; "" if there is none.
func (s secret) reveal() string {
	if s == nil {
		return ""
	}
	return s()
}

// A keyring returns the key of each call.
type keyring struct {
	fixed secret
	ask   func(ctx context.Context) (string, error)
}

const ownURL = "https://api.openai.com/v1"

// New returns a Model. It fails if a field is invalid, and, with an error of class [fault.UserFixable], if the address
// is known to need a key and there is none: neither APIKey nor Key is set, nor the environment variable.
func New(cfg Config) (*Model, error) {
	base, fromEnv := cfg.BaseURL, false
	if base == "" {
		if base = os.Getenv("OPENAI_BASE_URL"); base != "" {
			fromEnv = true
		} else {
			base = ownURL
		}
	}
	setting := "Config.BaseURL"
	if fromEnv {
		setting = "OPENAI_BASE_URL"
	}
	u, err := adapter.ParseBase("openai", setting, base, ownURL)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		return nil, fmt.Errorf("openai: Config.BaseURL contains a user name; send credentials in Config.Header instead")
	}
	m := &Model{model: cfg.Model, host: hostOf(u), api: cfg.API, models: slices.Clone(cfg.Models)}
	switch {
	case m.api == Auto && m.host.own:
		m.api = Responses
	case m.api == Auto:
		m.api = Chat
	case m.api != Chat && m.api != Responses:
		return nil, fmt.Errorf("openai: Config.API is %q; it can be %q, %q or empty", string(cfg.API), string(Chat), string(Responses))
	}
	if m.model == "" && m.host.own {
		m.model = DefaultModel
	}
	if m.name = cfg.Name; m.name == "" {
		m.name = m.host.name
	}
	m.keys = keyring{fixed: newSecret(cfg.APIKey), ask: cfg.Key}
	if m.keys.fixed == nil && m.keys.ask == nil && !m.host.authorized(cfg.Header) {
		if fromEnv && m.host.env == "" {
			m.host.env = "OPENAI_API_KEY" // if the address comes from the environment, so does its key
		}
		if m.host.env != "" {
			m.keys.fixed = newSecret(os.Getenv(m.host.env))
		}
		if m.keys.fixed == nil && m.host.needsKey {
			return nil, fault.NewFixable("openai: there is no key for "+m.name, m.keyRemedy(), nil)
		}
	}
	m.hidden = configured(cfg.Header, u.Query()).with(m.keys.fixed.reveal())
	m.client = sdk.Client{Options: clientOptions(cfg, m, u)}
	m.info = m.lookup(m.model)
	return m, nil
}

// clientOptions returns the options of all requests. The client is built without the environment's defaults, which would send OpenAI's
// organization, headers and key to any server.
func clientOptions(cfg Config, m *Model, u *url.URL) []option.RequestOption {
	client := cfg.HTTPClient
	if client == nil {
		client = http.DefaultClient
	}
	address := *u
	address.RawQuery, address.Fragment = "", ""
	opts := []option.RequestOption{option.WithBaseURL(address.String()), option.WithHTTPClient(client), option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream, application/json"), option.WithMiddleware(m.refused)}
	for name, values := range u.Query() {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	if m.host.own {
		if org := os.Getenv("OPENAI_ORG_ID"); org != "" {
			opts = append(opts, option.WithOrganization(org))
		}
		if project := os.Getenv("OPENAI_PROJECT_ID"); project != "" {
			opts = append(opts, option.WithProject(project))
		}
	}
	for name, values := range cfg.Header {
		for i, v := range values {
			if i == 0 {
				opts = append(opts, option.WithHeader(name, v))
			} else {
				opts = append(opts, option.WithHeaderAdd(name, v))
			}
		}
	}
	return opts
}

// publicURL removes the parts of an address that may be secret.
func publicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(no address)"
	}
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return strings.ToValidUTF8(public.String(), "")
}
