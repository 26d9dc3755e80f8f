package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

// builtIn is the name of the model that needs no key.
const builtIn = "built-in"

// providers are the real providers, in the order in which their keys are looked up.
var providers = []struct {
	name string
	keys []string // environment variables; one of them must be set
	open func(model string) (provider.Provider, error)
}{
	{"anthropic", []string{"ANTHROPIC_API_KEY"}, func(m string) (provider.Provider, error) {
		return anthropic.New(anthropic.Config{Model: m})
	}},
	{"openai", []string{"OPENAI_API_KEY"}, func(m string) (provider.Provider, error) {
		return openai.New(openai.Config{Model: m})
	}},
	{"gemini", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, func(m string) (provider.Provider, error) {
		return gemini.New(gemini.Config{Model: m})
	}},
	{"openrouter", []string{"OPENROUTER_API_KEY"}, openRouter},
	{"ollama", []string{"OLLAMA_HOST"}, ollama},
}

// openRouter opens a model of OpenRouter: the named one, else OPENROUTER_MODEL, else a small one of
// Google's. OPENROUTER_HEADERS has further headers, such as "HTTP-Referer: https://example.com,
// X-Title: My site".
func openRouter(m string) (provider.Provider, error) {
	header := http.Header{}
	for field := range strings.SplitSeq(os.Getenv("OPENROUTER_HEADERS"), ",") {
		name, value, ok := strings.Cut(field, ":")
		if field = strings.TrimSpace(field); field != "" && !ok {
			return nil, fmt.Errorf("OPENROUTER_HEADERS: %q isn't a header such as \"X-Title: My site\"", field)
		}
		if ok {
			header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return openai.New(openai.Config{Model: cmp.Or(m, os.Getenv("OPENROUTER_MODEL"), "google/gemini-2.5-flash"),
		BaseURL: "https://openrouter.ai/api/v1", Header: header})
}

// ollama opens a model of a local server: the one at OLLAMA_HOST, else at Ollama's usual address.
func ollama(m string) (provider.Provider, error) {
	if m == "" {
		return nil,
			errors.New("a local server has no default model; name the model with -model, or take -provider built-in")
	}
	host := strings.TrimSuffix(cmp.Or(os.Getenv("OLLAMA_HOST"), "localhost:11434"), "/")
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	return openai.New(openai.Config{Model: m, BaseURL: host + "/v1"})
}

// providerNames returns the values of -provider.
func providerNames() []string {
	names := []string{builtIn}
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// chooseModel returns the model and its name for the screen. It uses the named provider, else the
// first one whose key is in the environment, else the built-in model. An empty modelName means the
// provider's default.
func chooseModel(name, modelName string) (provider.Provider, string, error) {
	for _, p := range providers {
		if name != p.name && (name != "" || !anySet(p.keys)) {
			continue
		}
		m, err := p.open(modelName)
		if err != nil {
			return nil, "", fmt.Errorf("-provider %s: %w", p.name, err)
		}
		label := p.name
		info, _ := provider.Info(m)
		if info.ID == "" { // only the default base URL of OpenAI has a default model
			return nil, "",
				fmt.Errorf("-provider %s: a custom base URL has no default model; name the model with -model", p.name)
		}
		return m, label + " " + info.ID, nil
	}
	if name != "" && name != builtIn {
		return nil, "",
			fmt.Errorf("unknown provider %q; the providers are %s", name, strings.Join(providerNames(), ", "))
	}
	if modelName != "" {
		return nil, "", fmt.Errorf("-model %s needs -provider, or a key in the environment", modelName)
	}
	return model.New(), model.Label, nil
}

func anySet(names []string) bool {
	for _, n := range names {
		if os.Getenv(n) != "" {
			return true
		}
	}
	return false
}
