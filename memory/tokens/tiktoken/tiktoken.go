package tiktoken

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// An Encoding is one of OpenAI's vocabularies.
type Encoding string

// The encodings.
const (
	O200k  Encoding = "o200k_base"  // GPT-4o and later, o-series
	CL100k Encoding = "cl100k_base" // GPT-4, GPT-4 Turbo, GPT-3.5
)

// encodingOf returns the encoding of a model by its id, which may have a prefix such as "openai/".
// What is unknown is taken for a model of today: O200k.
func encodingOf(model string) Encoding {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if strings.HasPrefix(model, "gpt-3") || model == "gpt-4" || strings.HasPrefix(model, "gpt-4-") ||
		strings.HasPrefix(model, "text-embedding") {
		return CL100k
	}
	return O200k
}

// New returns a counter for a model, whose texts are counted by the model's vocabulary. It is safe
// for concurrent use.
func New(info provider.ModelInfo) *memory.Estimator {
	encoding := encodingOf(info.ID)
	return &memory.Estimator{
		Family:   memory.FamilyOpenAI,
		Model:    info.ID,
		Tokenize: func(text string) int { return Count(encoding, text) },
	}
}

// Count returns how many tokens a text takes. Bytes that are no UTF-8 count as U+FFFD; an unknown
// encoding as O200k. It is safe for concurrent use.
func Count(encoding Encoding, text string) int {
	codec := o200k
	if encoding == CL100k {
		codec = cl100k
	}
	c, err := codec()
	if err != nil {
		return (&memory.Estimator{Family: memory.FamilyOpenAI}).CountText(text)
	}
	n, err := c.Count(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return (&memory.Estimator{Family: memory.FamilyOpenAI}).CountText(text)
	}
	return n
}

var (
	o200k  = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })
	cl100k = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.Cl100kBase) })
)
