package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/providertest"
)

// chooseModel returns the model that the environment and the flag name, or the stand-in, and what
// to say about it.
func chooseModel(choice string) (p provider.Provider, about string, err error) {
	p, about, err = fromenv.From(fromenv.With(choice))
	if errors.Is(err, fromenv.ErrNone) {
		return standIn(20 * time.Millisecond), "a stand-in, which understands questions about orders", nil
	}
	return p, about, err
}

var number = regexp.MustCompile(`\b\d{4}\b`)

// standIn returns a model that needs no key and understands questions about orders. It writes a
// piece in each interval.
func standIn(pace time.Duration) provider.Provider {
	whole := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return reply(req).Response(), nil
	})
	return provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for chunk, err := range whole.Stream(ctx, req) {
				select {
				case <-ctx.Done():
				case <-time.After(pace):
				}
				if !yield(chunk, err) {
					return
				}
			}
		}
	})
}

// reply returns what the stand-in answers.
func reply(req *provider.Request) providertest.Step {
	if last := req.Messages[len(req.Messages)-1]; last.Role == provider.RoleTool {
		var lines []string
		for i := range last.Parts {
			if r := last.Parts[i].Result; r != nil {
				lines = append(lines, "- "+r.Text())
			}
		}
		return providertest.Say("This is what I found:\n\n" + strings.Join(lines, "\n") +
			"\n\nIs there **anything else**?")
	}
	text := strings.ToLower(req.LastUserText())
	tool := "findOrder"
	if strings.Contains(text, "cancel") {
		tool = "cancelOrder"
	}
	var calls []providertest.CallSpec
	for _, n := range number.FindAllString(text, 3) {
		order, _ := strconv.Atoi(n)
		calls = append(calls, providertest.CallSpec{Tool: tool, Input: Order{order}})
	}
	if len(calls) == 0 {
		return providertest.Say(
			fmt.Sprintf(
				"I am the stand-in for a model in this example. Ask me about an order, for example:\n\n1. *Where is order "+
					"1001?*\n2. *Cancel order 1002.*\n\nYou said: %q", req.LastUserText()))
	}
	return providertest.Reply(providertest.Say("Let me see to that."), providertest.Calls(calls...))
}
