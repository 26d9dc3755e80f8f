// Package adapter has the code that the adapters of model providers share: a [Client] that sends
// requests and keeps their secrets out of errors, where a key comes from and where it may be sent
// ([Base], [Key]), reading answers ([Open], [Whole], [Events]), encoding of tool names ([Names]), a
// caller's additional fields in a body ([Merge]), calls as sequences ([Stream]), and errors of
// answers that ended too early ([Over], [Broken]).
//
// Provider-specific details, such as names, limits and addresses, stay in the adapters. Texts of
// errors begin with the name that the adapter passes.
//
//	base, trusted, err := adapter.Base(Name, cfg.BaseURL, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
//	…
//	client := adapter.NewClient(adapter.ClientConfig{Name: Name, Base: base, Key: adapter.Fixed(key), …})
//	…
//	res, err := client.Post(ctx, model, "v1/messages", nil, body)
//
// All functions are safe for concurrent use; a [Names] is for one request and one goroutine.
package adapter
