package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// providers are those of language models, in the order in which they are asked.
var providers = []struct {
	name string // the environment variables are NAME_API_KEY, NAME_MODEL and NAME_QUICK_MODEL
	open func(key, model string) (provider.Provider, error)
}{
	{"anthropic", func(key, m string) (provider.Provider, error) {
		return anthropic.New(anthropic.Config{APIKey: key, Model: m})
	}},
	{"gemini", func(key, m string) (provider.Provider, error) {
		return gemini.New(gemini.Config{APIKey: key, Model: m})
	}},
	{"openai", func(key, m string) (provider.Provider, error) {
		return openai.New(openai.Config{APIKey: key, Model: m})
	}},
}

// model returns the providers whose keys are set, each of which is asked if the one before it
// fails. Without a key, or with MOCK_ALL_AI_TOOLS=MOCK, or PER_TOGGLE with MOCK_AI_SERVICE=MOCK, it
// returns the stand-in model, and real is false. notice describes the result for the user. calls
// records each attempt; nil: attempts aren't recorded.
func model(getenv func(string) string, logger *slog.Logger, calls *budget.Ledger) (p provider.Provider, real bool,
	notice string, err error) {
	var names []string
	var all []provider.Provider
	mocked := getenv("MOCK_ALL_AI_TOOLS") == "MOCK" || getenv("MOCK_ALL_AI_TOOLS") == "PER_TOGGLE" &&
		getenv("MOCK_AI_SERVICE") == "MOCK"
	for _, one := range providers {
		name := strings.ToUpper(one.name)
		key := getenv(name + "_API_KEY")
		if key == "" || mocked {
			continue
		}
		m, err := one.open(key, getenv(name+"_MODEL"))
		if err != nil {
			return nil, false, "", err
		}
		if small := getenv(name + "_QUICK_MODEL"); small != "" {
			m = roles{m, small}
		}
		names, all = append(names, one.name), append(all, m)
	}
	real = len(all) > 0
	if !real {
		if all, err = standin.Faults(getenv("FAIL_MODEL")); err != nil {
			return nil, false, "", fmt.Errorf("FAIL_MODEL: %w", err)
		}
		names = []string{standin.Notice}
	}
	p, err = assistant.Failover(logger, calls, all...)
	return p, real, strings.Join(names, ", then "), err
}
