package main

import (
	"fmt"
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
	{"anthropic", []string{"ANTHROPIC_API_KEY"}, func(m string) (provider.Provider, error) { return anthropic.New(anthropic.Config{Model: m}) }},
	{"openai", []string{"OPENAI_API_KEY"}, func(m string) (provider.Provider, error) { return openai.New(openai.Config{Model: m}) }},
	{"gemini", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, func(m string) (provider.Provider, error) { return gemini.New(gemini.Config{Model: m}) }},
}

// providerNames returns the values of -provider.
func providerNames() []string {
	names := []string{builtIn}
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// chooseModel returns the model and its name for the screen. It uses the named provider, else the first one whose key is in the
// environment, else the built-in model. An empty modelName means the provider's default.
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
			return nil, "", fmt.Errorf("-provider %s: a custom base URL has no default model; name the model with -model", p.name)
		}
		return m, label + " " + info.ID, nil
	}
	if name != "" && name != builtIn {
		return nil, "", fmt.Errorf("unknown provider %q; the providers are %s", name, strings.Join(providerNames(), ", "))
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
