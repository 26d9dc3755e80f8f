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

// providers are the real ones, in the order in which their keys are looked for.
var providers = []struct {
	name string
	keys []string // environment variables, any of which will do
	open func(model string) (provider.Provider, error)
}{
	{"anthropic", []string{"ANTHROPIC_API_KEY"}, func(m string) (provider.Provider, error) { return anthropic.New(anthropic.Config{Model: m}) }},
	{"openai", []string{"OPENAI_API_KEY"}, func(m string) (provider.Provider, error) { return openai.New(openai.Config{Model: m}) }},
	{"gemini", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, func(m string) (provider.Provider, error) { return gemini.New(gemini.Config{Model: m}) }},
}

// providerNames returns what -provider takes.
func providerNames() []string {
	names := []string{builtIn}
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// chooseModel returns the model to use, and what to call it on a screen: that of the provider with that name, else of the
// first whose key is in the environment, else the one that is built in. modelName may be empty: the provider's default.
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
		if info.ID == "" { // only OpenAI's own address has a default
			return nil, "", fmt.Errorf("-provider %s: its base URL is that of another server, so name the model with -model", p.name)
		}
		return m, label + " " + info.ID, nil
	}
	if name != "" && name != builtIn {
		return nil, "", fmt.Errorf("there is no provider %q; there are %s", name, strings.Join(providerNames(), ", "))
	}
	if modelName != "" {
		return nil, "", fmt.Errorf("-model %s needs a -provider, or a key in the environment", modelName)
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
