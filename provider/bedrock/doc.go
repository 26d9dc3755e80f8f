// Package bedrock is a [provider.Provider] for the models of Amazon Bedrock. It is a module of its
// own, because it needs Amazon's libraries for credentials and signatures.
//
//	model, err := bedrock.New(ctx, bedrock.Config{Region: "us-east-1", Model: "us.anthropic.claude-sonnet-5-5"})
//	if err != nil {
//		return err // says what to do
//	}
//	res, err := provider.Generate(ctx, model, &provider.Request{Messages: []provider.Message{provider.User("Hello")}})
//
// A model whose id contains "anthropic.claude" is called by InvokeModelWithResponseStream with the
// requests and answers of the package anthropic, whose documentation applies, with its
// [provider.Request.Options] and [provider.Opaque] data. Media must be sent by value.
//
// # Other models
//
// Any other model, and any ARN without that text, is called by ConverseStream:
//
//   - Request.Options["bedrock"] is merged into the body as the API defines it: guardrailConfig,
//     additionalModelRequestFields, …. Options["bedrock"] of a [provider.Tool] are members of its
//     toolSpec, such as strict.
//   - Request.Reasoning isn't sent, since each model has other fields for it; use
//     additionalModelRequestFields. The schema of Request.Output is part of the system text.
//     Sampling.TopK, its seed and penalties, DisableParallelToolCalls, Cache and cache marks aren't
//     sent.
//   - Tool names may have at most 64 characters. ChooseNone can't be enforced: the model sees the
//     tools if the conversation has calls.
//   - [provider.Response].Details has trace, serviceTier, performanceConfig and
//     additionalModelResponseFields.
//   - Nothing is known of a model unless Config.Models has it.
//
// # Errors
//
// Errors are a [*provider.Error] of the provider "bedrock", whose Type is the name of the
// exception, for example ThrottlingException. Frames of the event stream are checked (length and
// CRC); a frame above 16 MiB is a permanent error. Neither the secret key nor the session token nor
// a signature appears in an error.
package bedrock
