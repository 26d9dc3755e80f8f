// Package standin stands in for the services that a content agent asks: a language model and a
// source of research. It is a table of texts in plain Go, not a language model, and the sources are
// made up, and say so. It needs no key and no network, and the same request always gets the same
// answer.
//
//	a, err := agent.New(agent.Config{Provider: standin.Model(), Tools: list})
//	found, err := web.Find(ctx, "remote work", 20, standin.Sources()...)
package standin
