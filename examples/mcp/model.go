package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/provider/providertest"
)

// chooseModel returns the model of the provider whose key is set, or the stand-in.
func chooseModel() (provider.Provider, error) {
	switch {
	case os.Getenv("ANTHROPIC_API_KEY") != "":
		return anthropic.New(anthropic.Config{})
	case os.Getenv("OPENAI_API_KEY") != "":
		return openai.New(openai.Config{})
	case os.Getenv("GEMINI_API_KEY") != "":
		return gemini.New(gemini.Config{})
	}
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return reply(req).Response(), nil
	}), nil
}

// reply returns what the stand-in model answers: the result of a call, a call of the tool that the
// message names, or the tools that there are.
func reply(req *provider.Request) providertest.Step {
	if last := req.Messages[len(req.Messages)-1]; last.Role == provider.RoleTool {
		var texts []string
		for i := range last.Parts {
			if r := last.Parts[i].Result; r != nil {
				texts = append(texts, r.Text())
			}
		}
		return providertest.Say(strings.Join(texts, "\n"))
	}
	name, input, _ := strings.Cut(strings.TrimSpace(req.LastUserText()), " ")
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
		if t.Name == name {
			if input == "" {
				input = "{}"
			}
			return providertest.Call(name, rawJSON(input))
		}
	}
	return providertest.Say(
		"I am a stand-in for a model. Say the name of a tool and its input as JSON. The tools are:\n" +
			strings.Join(names, "\n"))
}

// rawJSON returns a text as JSON: as it is, or as a string if it isn't JSON.
func rawJSON(text string) json.RawMessage {
	if raw := json.RawMessage(text); json.Valid(raw) {
		return raw
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
