// Package tiktoken counts text exactly for OpenAI's models, with their own vocabularies.
//
// The vocabularies o200k (GPT-4o and later, the o-series) and cl100k (GPT-4, GPT-3.5) are part of
// the program that imports this package: they add about 12 MB to it and are loaded when they are
// first used. That is why no other package of this module imports it; without it,
// [memory.NewEstimator] counts by characters.
//
//	counter := tiktoken.New(provider.ModelInfo{ID: "gpt-4o"})
//	meter := memory.NewMeter(counter)
//
// The count of each text is exact. What a provider adds around messages, calls and tools isn't
// documented and remains an estimate, as do images and documents.
package tiktoken
