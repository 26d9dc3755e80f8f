// Package vertex is a [provider.Provider] for Gemini and Claude on Google's Vertex AI. It is a
// module of its own, because it needs Google's library for credentials.
//
//	model, err := vertex.New(ctx, vertex.Config{
//		Project: "my-project", Location: "europe-west4", Model: "gemini-3.5-flash",
//	})
//	if err != nil {
//		return err // says what to do
//	}
//	res, err := provider.Generate(ctx, model, &provider.Request{Messages: []provider.Message{provider.User("Hello")}})
//
// Requests and answers are those of the packages gemini and anthropic, whose documentation applies:
// a model whose name contains "claude" is called by the API of Anthropic, any other by that of
// Gemini. [provider.Request.Options] and [provider.Opaque] data have the names of those packages,
// so a conversation can continue there. What differs:
//
//   - Tokens come from Google's application default credentials (GOOGLE_APPLICATION_CREDENTIALS,
//     gcloud, a service account, workload identity), or from Config.TokenSource.
//   - Gemini's calls and results are sent without ids, which Vertex AI rejects. Equal names are
//     matched by their order.
//   - Prices are those of the providers' own services. Some regions cost more: set Config.Models.
//
// Errors are a [*provider.Error] of the provider "vertex". An access token appears in none.
package vertex
