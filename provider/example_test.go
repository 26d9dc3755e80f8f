package provider_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// shout is a provider that answers in capitals.
func shout(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Start("shout-1"), nil) {
			return
		}
		for word := range strings.FieldsSeq(req.LastUserText()) {
			if !yield(provider.Text(strings.ToUpper(word)+" "), nil) {
				return
			}
		}
		yield(provider.End(provider.StopDone, provider.Usage{Input: 4, Output: 4}), nil)
	}
}

func Example() {
	p := provider.Func(shout)
	req := &provider.Request{Messages: []provider.Message{provider.User("is anybody there")}}
	for c, err := range p.Stream(context.Background(), req) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch c.Kind {
		case provider.KindText:
			fmt.Printf("%q ", c.Text)
		case provider.KindEnd:
			fmt.Println(c.Extra.Stop, c.Extra.Usage.Total())
		}
	}
	// Output: "IS " "ANYBODY " "THERE " done 8
}

func ExampleGenerate() {
	req := &provider.Request{Messages: []provider.Message{provider.User("good morning")}}
	res, err := provider.Generate(context.Background(), provider.Func(shout), req)
	fmt.Println(res.Text(), res.Stop, err)
	// Output: GOOD MORNING  done <nil>
}

func ExampleCollector() {
	var c provider.Collector
	for _, chunk := range []provider.Chunk{
		provider.Start("m"),
		provider.ToolStart(0, "id-1", "weather"),
		provider.ToolDelta(0, `{"city":`),
		provider.ToolDelta(0, ` "Oslo"}`),
		provider.ToolEnd(0),
	} {
		if err := c.Add(chunk); err != nil {
			fmt.Println(err)
		}
	}
	for _, call := range c.Response().Calls() {
		fmt.Printf("%s %s\n", call.Name, call.Input)
	}
	fmt.Println(c.Complete())
	// Output:
	// weather {"city":"Oslo"}
	// false
}

func ExamplePrices_Cost() {
	prices := provider.Prices{Input: 3 * provider.USD, Output: 15 * provider.USD, CacheRead: provider.USD * 3 / 10,
		CacheWrite: provider.USD * 15 / 4}
	fmt.Println(prices.Cost(provider.Usage{Input: 1200, Output: 300, CacheRead: 1000}))
	// Output: $0.005400
}
