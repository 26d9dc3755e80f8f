package desk

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Model returns the model that the environment names (package provider/fromenv). If it names none,
// it is a stand-in in plain Go.
func Model() (provider.Provider, error) {
	model, _, err := fromenv.Provider()
	if errors.Is(err, fromenv.ErrNone) {
		return providertest.Func(standIn), nil
	}
	return model, err
}

var hour = regexp.MustCompile(`\d+`)

// standIn answers the newest message: it calls the tool that fits the request, and repeats results.
func standIn(_ context.Context, req *provider.Request) (*provider.Response, error) {
	res := provider.TextResponse("I look after the meeting rooms.")
	last := req.Messages[len(req.Messages)-1]
	asked := strings.ToLower(req.LastUserText())
	at := map[string]any{"hour": json.Number(hour.FindString(asked + " 10")), "room": "Fuji"}
	switch {
	case last.Role == provider.RoleTool:
		res = provider.TextResponse(last.Parts[len(last.Parts)-1].Result.Text())
	case strings.Contains(asked, "book") && offered(req, "book"):
		res = call("book", at)
	case strings.Contains(asked, "free") && offered(req, "free"):
		delete(at, "room")
		res = call("free", at)
	}
	res.Usage = provider.Usage{Input: 300, Output: 20}
	return res, nil
}

func offered(req *provider.Request, name string) bool {
	for _, t := range req.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

func call(name string, input map[string]any) *provider.Response {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err) // it is a map of a number and a text
	}
	part := provider.Part{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: name + "-1", Name: name, Input: raw}}
	return &provider.Response{Parts: []provider.Part{part}, Stop: provider.StopToolCalls, Complete: true}
}
