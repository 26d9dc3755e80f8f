package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/providertest"
)

// chooseModel returns the model that the environment and the flag name, or the stand-in, and what
// to say about it.
func chooseModel(choice string) (p provider.Provider, about string, err error) {
	p, about, err = fromenv.From(fromenv.With(choice))
	if errors.Is(err, fromenv.ErrNone) {
		return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			return reply(req).Response(), nil
		}), "a stand-in, which calls the tool that is named", nil
	}
	return p, about, err
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
