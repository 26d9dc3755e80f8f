package fromenv

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/servers"
	"github.com/pawlkit/pawl/provider/openai"
)

// The own addresses of what doesn't have OpenAI's API. They are given to the adapters, so that
// these don't look at the process's environment.
const (
	anthropicURL = "https://api.anthropic.com"
	geminiURL    = "https://generativelanguage.googleapis.com"
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
	example string   // a model
	own     string   // its own address
	open    func(e env, base, model string) (provider.Provider, error)

	server  *servers.Server // with the API of OpenAI; nil: it has another one
	further bool            // only its model or Variable chooses it
}

// byKey are the providers that their keys choose, in the order in which they are asked.
var byKey = []kind{
	{name: "anthropic", set: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, address: "ANTHROPIC_BASE_URL",
		model: "ANTHROPIC_MODEL", example: anthropic.DefaultModel, own: anthropicURL, open: newAnthropic},
	server("openai", kind{set: []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"}, images: "OPENAI_IMAGE_MODEL",
		example: openai.DefaultModel, open: newOpenAI}),
	{name: "gemini", set: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, address: "GOOGLE_GEMINI_BASE_URL",
		model: "GEMINI_MODEL", images: "GEMINI_IMAGE_MODEL", example: gemini.DefaultModel, own: geminiURL,
		open: newGemini},
	server("openrouter", kind{set: []string{"OPENROUTER_API_KEY"}, example: "google/gemini-3.5-flash",
		open: newOpenRouter}),
	server("ollama", kind{set: []string{"OLLAMA_HOST", "OLLAMA_MODEL"}, example: "qwen3"}),
}

// further are the other servers, which only their models or [Variable] choose.
var further = func() (all []kind) {
	for i := range servers.All {
		s := &servers.All[i]
		if !slices.ContainsFunc(byKey, func(k kind) bool { return k.name == s.Name }) {
			all = append(all, server(s.Name, kind{set: []string{s.Model}, further: true}))
		}
	}
	return all
}()

// server returns k with what is known of the server of that name.
func server(name string, k kind) kind {
	s := servers.Named(name)
	k.name, k.server, k.address, k.model, k.own = s.Name, s, s.Address, s.Model, s.URL
	if k.open == nil {
		k.open = func(e env, base, model string) (provider.Provider, error) {
			return openai.New(openai.Config{Server: s.Name, Model: model, APIKey: e.get(s.Key), BaseURL: base})
		}
	}
	return k
}

// named returns the provider of that name, nil if there is none.
func named(name string) *kind {
	for _, kinds := range [][]kind{byKey, further} {
		for i := range kinds {
			if kinds[i].name == name {
				return &kinds[i]
			}
		}
	}
	return nil
}

// names returns the names of all providers, in order.
func names() (all []string) {
	for _, k := range slices.Concat(byKey, further) {
		all = append(all, k.name)
	}
	return all
}

// setBy returns the variable that names k, "" if none does.
func (k *kind) setBy(e env) string {
	for _, name := range k.set {
		if e.get(name) != "" {
			return name
		}
	}
	return ""
}

// missing returns the variables without which k can't be called, and which aren't set. A further
// server at another address may be a gateway that has the key.
func (k *kind) missing(e env) (variables []string) {
	s := k.server
	switch {
	case s != nil && s.Keyless, !k.further && k.setBy(e) != "":
		return nil
	case !k.further:
		return k.set[:1]
	}
	if s.URLIsExample && e.get(s.Address) == "" {
		variables = append(variables, s.Address)
	}
	if e.get(s.Key) == "" && (s.URLIsExample || e.get(s.Address) == "") {
		variables = append(variables, s.Key)
	}
	return variables
}

// lacks returns the error for a variable that names k without others.
func (k *kind) lacks(variable string, missing []string) error {
	verb := "isn't"
	if len(missing) > 1 {
		verb = "aren't"
	}
	list := strings.Join(missing, " and ")
	return fault.NewFixable(fmt.Sprintf("fromenv: %s names %s, and %s %s set", variable, k.name, list, verb),
		fmt.Sprintf("set %s, or leave %s empty", list, variable), nil)
}

// choose makes the provider that a variable names.
func (k *kind) choose(e env, model, variable string) (Choice, error) {
	missing := k.missing(e)
	if len(missing) > 0 {
		if model == "" {
			missing = append(slices.Clone(missing), k.model)
		}
		return Choice{}, k.lacks(variable, missing)
	}
	if model == "" {
		such, none := "", ""
		if k.example != "" {
			such = ", such as " + k.example
		}
		if variable != Variable {
			none = fmt.Sprintf("; or %s=%s to use no provider", Variable, StandIn)
		}
		return Choice{}, fault.NewFixable(
			fmt.Sprintf("fromenv: %s names %s, and %s isn't set", variable, k.name, k.model),
			fmt.Sprintf("set %s to a model%s%s", k.model, such, none), nil)
	}
	prices, err := e.prices()
	if err != nil {
		return Choice{}, err
	}
	c := Choice{Name: k.name, Model: model}
	base := cmp.Or(e.get(k.address), k.own)
	if c.Provider, err = k.open(e, base, model); err != nil {
		by := cmp.Or(k.setBy(e), k.name)
		if k.further && base != k.own {
			by = k.address
		}
		return c, fmt.Errorf("fromenv: %s: %w", by, err)
	}
	c.Provider = provider.WithPrices(c.Provider, prices)
	if base != k.own {
		c.At = servers.HostOf(base)
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
	return openai.New(openai.Config{Server: "openrouter", Model: model, APIKey: e.get("OPENROUTER_API_KEY"),
		BaseURL: base, Header: header})
}
