// Package adapter has what the adapters of model providers do alike: where a key comes from and where it may go ([Base],
// [Credential]), what an error must not tell ([Hiding], [Scrub], [Brief]), names of tools in the letters that an API takes
// ([Names]), a caller's own fields in a body ([Merge]), and how a call becomes a sequence ([Stream]) and what its error is where
// it ended too early ([Over], [Broken]).
//
// What differs from one provider to the next stays with its adapter: each says its name, its limits and its addresses, and no
// function here knows any of them. Texts of errors begin with the name that they are given.
//
//	base, trusted, err := adapter.Base(Name, cfg.BaseURL, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
//	…
//	cred := adapter.Asked(Name, cfg.Key)
//	cred.Hide = adapter.Hiding(cfg.Header)
//	…
//	res, key, err := cred.Send(ctx, Name, refused, func(key string) (*http.Response, error) { … })
//
// All functions are safe for concurrent use; [Names] are of one request and one goroutine.
package adapter
