package openai

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/provider/internal/servers"
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

// Config configures a [Model]. Its zero value calls [DefaultModel] at OpenAI with the key in
// OPENAI_API_KEY.
//
// Printing a Config, with any verb or as JSON, reveals neither the key nor the values of headers.
type Config struct {
	// Model is the model of requests that name none. Empty: DefaultModel at OpenAI's own address;
	// for other addresses each request must name one.
	Model string

	// Server names a known server, such as "openrouter", "groq" or "lmstudio": its address, its
	// variables of the environment, and how it differs from OpenAI. docs/providers.md lists them.
	// With BaseURL, the server is behind that address, which may be a gateway. Empty: the server at
	// BaseURL, if it is known.
	Server string

	// APIKey is the key. Empty: the key that Key returns, else the environment variable of the
	// server, such as OPENAI_API_KEY, GROQ_API_KEY or AZURE_OPENAI_API_KEY. A key from the
	// environment is only sent to the server's own address, and to one from the environment.
	APIKey string
	// Key returns the key. It is called before each call, and once more if the server rejects the
	// key with status 401. It must be safe for concurrent use. It isn't used if APIKey is set.
	Key func(ctx context.Context) (string, error)

	// BaseURL is the address that "/chat/completions" or "/responses" is appended to, such as
	// https://openrouter.ai/api/v1. A query in it (?api-version=…) goes with every request. Empty:
	// the environment variable of the server, OPENAI_BASE_URL without one, else the server's own
	// address, https://api.openai.com/v1 without one.
	BaseURL string
	// API is the protocol; see Auto.
	API API

	// Name is the provider's name in errors and in the [provider.ModelInfo]. It also marks the
	// opaque data of this server, which is only sent back to servers of that name. Empty: "openai"
	// for OpenAI, else the host of the known server, or its name if users run it themselves, else
	// the host of BaseURL.
	Name string

	HTTPClient *http.Client // nil: http.DefaultClient
	// Header has additional headers for every request, which override those of the adapter and the
	// key. With an Authorization header, no key is taken from the environment. The values are
	// removed from errors.
	Header http.Header
	// Models has the host's information about models, which takes precedence over the built-in
	// table; see [Models].
	Models []provider.ModelInfo

	// Pending keeps the ids of answers that are made in background mode; see there in the package
	// comment. nil: the Model does, in memory, those of the newest 1,000.
	Pending Pending
}

// Format writes c without its key, the values of its headers and the query of its address.
func (c Config) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "openai.Config{Model:%q Server:%q BaseURL:%q API:%q Name:%q APIKey:%t Key:%t Header:%q}",
		c.Model, c.Server, adapter.PublicURL(c.BaseURL), string(c.API), c.Name,
		c.APIKey != "", c.Key != nil, slices.Sorted(maps.Keys(c.Header)))
}

// MarshalText returns what Format writes.
func (c Config) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(c)), nil }

const ownURL = "https://api.openai.com/v1"

// New returns a Model. It fails if a field is invalid, and, with an error of class
// [fault.UserFixable], if the address is known to need a key and there is none: neither APIKey nor
// Key is set, nor the environment variable.
func New(cfg Config) (*Model, error) {
	named, u, fromEnv, err := serverOf(&cfg)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		return nil, fmt.Errorf("openai: Config.BaseURL contains a user name; send credentials in Config.Header instead")
	}
	m := &Model{model: cfg.Model, host: hostOf(u, named), api: cfg.API, models: slices.Clone(cfg.Models),
		pending: cfg.Pending, waiting: &waitingKeys{}}
	if m.pending == nil {
		m.pending = &pendingHere{}
	}
	switch {
	case m.api == Auto && m.host.own:
		m.api = Responses
	case m.api == Auto:
		m.api = Chat
	case m.api != Chat && m.api != Responses:
		return nil, fmt.Errorf("openai: Config.API is %q; it can be %q, %q or empty", string(cfg.API), string(Chat),
			string(Responses))
	}
	if m.model == "" && m.host.own {
		m.model = DefaultModel
	}
	m.name = cmp.Or(cfg.Name, m.host.name)
	key := adapter.Fixed(cfg.APIKey)
	switch {
	case cfg.APIKey != "":
	case cfg.Key != nil:
		key = adapter.Asked(m.name, m.host.needsKey(), m.keyRemedy(), cfg.Key)
	case !m.host.authorized(cfg.Header):
		if fromEnv && m.host.Key == "" {
			m.host.Key = "OPENAI_API_KEY" // if the address comes from the environment, so does its key
		}
		found := ""
		if m.host.Key != "" && (m.host.home || fromEnv) {
			found = os.Getenv(m.host.Key)
		}
		if found == "" && m.host.needsKey() {
			return nil, &provider.Error{Class: fault.UserFixable, Provider: m.name, Message: "no API key",
				Remedy: m.keyRemedy()}
		}
		key = adapter.Fixed(found)
	}
	m.client = adapter.NewClient(adapter.ClientConfig{
		Name: m.name, Base: u, HTTPClient: cfg.HTTPClient, Header: m.host.ownHeader(), Host: cfg.Header, Key: key,
		AsksHost:  cfg.Key != nil && cfg.APIKey == "" || cfg.Pending != nil,
		Authorize: m.host.authorize,
		Decode: func(status int, body []byte) *provider.Error {
			return m.failed(adapter.ParseFailure(body), status)
		},
	})
	return m, nil
}

// serverOf returns the server that cfg names, nil if it names none, its address, and whether that
// isn't the program's choice but the environment's or the server's own.
func serverOf(cfg *Config) (named *servers.Server, u *url.URL, fromEnv bool, err error) {
	variable, own := "OPENAI_BASE_URL", ownURL
	if cfg.Server != "" {
		if named = servers.Named(cfg.Server); named == nil {
			return nil, nil, false, fmt.Errorf("openai: Config.Server is %q; it can be %s, or empty", cfg.Server,
				strings.Join(servers.Names(), ", "))
		}
		variable, own = named.Address, named.URL
	}
	setting, address := "Config.BaseURL", cfg.BaseURL
	if address == "" {
		setting, address, fromEnv = variable, os.Getenv(variable), true
	}
	switch {
	case address != "":
	case named != nil && named.URLIsExample:
		return nil, nil, false, fault.NewFixable("openai: the address for "+named.Title+" is missing",
			"set "+variable+" or Config.BaseURL to an address such as "+own, nil)
	default:
		address = own
	}
	if named != nil {
		address = named.Completed(address)
	}
	u, err = adapter.ParseBase("openai", setting, address, own)
	return named, u, fromEnv, err
}

// authorize puts a key into the headers of a request.
func (h *host) authorize(header http.Header, key string) {
	header.Set("Authorization", "Bearer "+key)
	if h.KeyHeader != "" {
		header.Set(h.KeyHeader, key)
	}
}

// authorized reports whether the headers of a user contain a key for the server.
func (h *host) authorized(header http.Header) bool {
	for name, values := range header {
		if len(values) > 0 && values[0] != "" &&
			(strings.EqualFold(name, "Authorization") || h.KeyHeader != "" && strings.EqualFold(name, h.KeyHeader)) {
			return true
		}
	}
	return false
}

// ownHeader returns the headers that only OpenAI's own host gets.
func (h *host) ownHeader() http.Header {
	header := http.Header{}
	if !h.own || !h.home {
		return header
	}
	if org := os.Getenv("OPENAI_ORG_ID"); org != "" {
		header.Set("Openai-Organization", org)
	}
	if project := os.Getenv("OPENAI_PROJECT_ID"); project != "" {
		header.Set("Openai-Project", project)
	}
	return header
}
