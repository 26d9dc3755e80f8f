// Package adapter has the code that the adapters of model providers share: where a key comes from and where it may be sent
// ([Base], [Credential]), secrets in errors ([Hiding], [Scrub], [Brief]), encoding of tool names ([Names]), a caller's
// additional fields in a body ([Merge]), calls as sequences ([Stream]), and errors of answers that ended too early ([Over],
// [Broken]).
//
// Provider-specific details, such as names, limits and addresses, stay in the adapters. Texts of errors
// begin with the name that the adapter passes.
//
//	base, trusted, err := adapter.Base(Name, cfg.BaseURL, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
//	…
//	cred := adapter.Asked(Name, cfg.Key)
//	cred.Hide = adapter.Hiding(cfg.Header)
//	…
//	res, key, err := cred.Send(ctx, Name, refused, func(key string) (*http.Response, error) { … })
//
// All functions are safe for concurrent use; a [Names] is for one request and one goroutine.
package adapter
