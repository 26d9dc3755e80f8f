package fromenv

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

// The own addresses. They are given to the adapters, so that these don't look at the process's
// environment.
const (
	anthropicURL  = "https://api.anthropic.com"
	openaiURL     = "https://api.openai.com/v1"
	geminiURL     = "https://generativelanguage.googleapis.com"
	openrouterURL = "https://openrouter.ai/api/v1"
	ollamaHost    = "localhost:11434"
)

// env is an environment.
type env func(name string) string

// get returns the value of a variable without white space around it.
func (e env) get(name string) string {
	if e == nil || name == "" {
		return ""
	}
	return strings.TrimSpace(e(name))
}

// first returns the value of the first of these variables that is set.
func (e env) first(names ...string) string {
	for _, n := range names {
		if v := e.get(n); v != "" {
			return v
		}
	}
	return ""
}

// A kind is a provider that this package knows.
type kind struct {
	name    string
	set     []string // variables of which one chooses it, its key first
	address string   // variable of its address
	model   string   // variable of its model
	images  string   // variable of its model for images; "": it makes none
	keyless string   // its address without one in the environment, if it needs no key
	example string   // a model
	make    func(e env, base, model string) (provider.Provider, error)
	own     string // its own address
}

// known are the providers in the order in which they are asked.
var known = []kind{
	{name: "anthropic", set: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, address: "ANTHROPIC_BASE_URL",
		model: "ANTHROPIC_MODEL", example: anthropic.DefaultModel, own: anthropicURL, make: newAnthropic},
	{name: "openai", set: []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"}, address: "OPENAI_BASE_URL",
		model: "OPENAI_MODEL", images: "OPENAI_IMAGE_MODEL", example: openai.DefaultModel, own: openaiURL,
		make: newOpenAI},
	{name: "gemini", set: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, address: "GOOGLE_GEMINI_BASE_URL",
		model: "GEMINI_MODEL", images: "GEMINI_IMAGE_MODEL", example: gemini.DefaultModel, own: geminiURL,
		make: newGemini},
	{name: "openrouter", set: []string{"OPENROUTER_API_KEY"}, address: "OPENROUTER_BASE_URL",
		model: "OPENROUTER_MODEL", example: "google/gemini-3.5-flash", own: openrouterURL, make: newOpenRouter},
	{name: "ollama", set: []string{"OLLAMA_HOST", "OLLAMA_MODEL"}, address: "OLLAMA_HOST", keyless: ollamaHost,
		model: "OLLAMA_MODEL", example: "qwen3", own: ollamaHost, make: newOllama},
}

// chosen reports whether the environment names k.
func (k *kind) chosen(e env) bool { return k.setBy(e) != "" }

// setBy returns the variable that names k.
func (k *kind) setBy(e env) string {
	for _, name := range k.set {
		if e.get(name) != "" {
			return name
		}
	}
	return ""
}

// lacksKey returns the error for a variable that names k without its key.
func (k *kind) lacksKey(variable string) error {
	return fault.NewFixable(fmt.Sprintf("fromenv: %s names %s, and %s isn't set", variable, k.name, k.set[0]),
		fmt.Sprintf("set %s and %s, or leave %s empty", k.set[0], k.model, variable), nil)
}

// open makes the provider.
func (k *kind) open(e env, model string) (Choice, error) {
	c := Choice{Name: k.name, Model: model}
	base := cmp.Or(e.get(k.address), k.own)
	var err error
	if c.Provider, err = k.make(e, base, model); err != nil {
		return c, fmt.Errorf("fromenv: %s: %w", cmp.Or(k.setBy(e), k.name), err)
	}
	if base != k.own {
		c.At = base // of Ollama, which may be a host alone
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			c.At = u.Host
		}
	}
	return c, nil
}

func newAnthropic(e env, base, model string) (provider.Provider, error) {
	cfg := anthropic.Config{Model: model, APIKey: e.get("ANTHROPIC_API_KEY"), BaseURL: base}
	if cfg.APIKey == "" {
		cfg.Header = http.Header{"Authorization": {"Bearer " + e.get("ANTHROPIC_AUTH_TOKEN")}}
	}
	return anthropic.New(cfg)
}

func newOpenAI(e env, base, model string) (provider.Provider, error) {
	return openai.New(openai.Config{Model: model, APIKey: e.get("OPENAI_API_KEY"), BaseURL: base})
}

func newGemini(e env, base, model string) (provider.Provider, error) {
	return gemini.New(gemini.Config{Model: model, APIKey: e.first("GOOGLE_API_KEY", "GEMINI_API_KEY"), BaseURL: base})
}

func newOpenRouter(e env, base, model string) (provider.Provider, error) {
	header := http.Header{}
	for field := range strings.SplitSeq(e.get("OPENROUTER_HEADERS"), ",") {
		name, value, ok := strings.Cut(field, ":")
		if field = strings.TrimSpace(field); field != "" && !ok {
			return nil, fault.NewFixable("OPENROUTER_HEADERS has a part without a colon",
				`write headers as in "HTTP-Referer: https://example.com, X-Title: My site"`, nil)
		}
		if ok {
			header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return openai.New(openai.Config{Model: model, APIKey: e.get("OPENROUTER_API_KEY"), BaseURL: base,
		Header: header})
}

func newOllama(e env, base, model string) (provider.Provider, error) {
	scheme := strings.Contains(base, "://")
	if !scheme {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fault.NewFixable("OLLAMA_HOST isn't an address", "set it to one such as "+ollamaHost, nil)
	}
	if !scheme && u.Port() == "" {
		u.Host += ":11434"
	}
	return openai.New(openai.Config{Model: model, APIKey: e.get("OLLAMA_API_KEY"), BaseURL: u.JoinPath("v1").String(),
		Name: "ollama"})
}
