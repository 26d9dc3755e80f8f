// Package openai counts text exactly for OpenAI's models, with their own vocabularies.
//
// The vocabularies o200k (GPT-4o and later, the o-series) and cl100k (GPT-4, GPT-3.5) are part of the program that imports
// this package: they add about 12 MB to it and are loaded when they are first used. That is why no other package of this
// module imports it; without it, [memory.NewEstimator] counts by characters.
//
//	counter := openai.New(provider.ModelInfo{ID: "gpt-4o"})
//	meter := memory.NewMeter(counter)
//
// Exact is the count of each text. What a provider adds around messages, calls and tools it doesn't say; that stays an
// estimate, and so do images and documents.
package openai
