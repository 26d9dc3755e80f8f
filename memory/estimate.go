package memory

import (
	"math"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A Family is a group of models that cut text into tokens alike.
type Family string

// The families that are known. Any other name counts as unknown.
const (
	FamilyUnknown   Family = ""
	FamilyOpenAI    Family = "openai" // o200k: GPT-4o and later, o-series
	FamilyAnthropic Family = "anthropic"
	FamilyGemini    Family = "gemini"
	FamilyLlama     Family = "llama"
	FamilyMistral   Family = "mistral"
	FamilyQwen      Family = "qwen"
	FamilyDeepSeek  Family = "deepseek"
)

// families says by how many percent the tokens of a family outnumber those of o200k, on which the
// estimate of a text is fitted. OpenAI 100: measured, see the package documentation. Anthropic 130:
// its documentation tells of 3.5 English characters a token where OpenAI's and Google's tell of 4,
// and of up to 35 % more tokens since Claude Opus 4.7. Gemini 105: 4 characters a token. The others
// have published vocabularies of 128,000 to 152,000 entries, between cl100k (up to 10 % more tokens
// than o200k on English and code) and o200k; older Mistral models have 32,000. What is unknown
// counts as the hungriest.
var families = map[Family]int{
	FamilyUnknown:   130,
	FamilyOpenAI:    100,
	FamilyAnthropic: 130,
	FamilyGemini:    105,
	FamilyLlama:     112,
	FamilyMistral:   125,
	FamilyQwen:      115,
	FamilyDeepSeek:  115,
}

// familyOf guesses the family from the names of the model and its provider; the model's own name
// wins.
func familyOf(info provider.ModelInfo) Family {
	for _, name := range []string{info.ID, info.Name, info.Provider} {
		name = strings.ToLower(name)
		if strings.HasSuffix(name, "gpt-4") { // cl100k, as below
			return FamilyUnknown
		}
		for _, known := range [...]struct {
			part   string
			family Family
		}{
			{"claude", FamilyAnthropic}, {"anthropic", FamilyAnthropic}, {"deepseek", FamilyDeepSeek},
			{"qwen", FamilyQwen},
			{"llama", FamilyLlama}, {"mistral", FamilyMistral}, {"mixtral", FamilyMistral},
			{"codestral", FamilyMistral},
			{"gemini", FamilyGemini}, {"gemma", FamilyGemini}, {"google", FamilyGemini},
			{"gpt-3", FamilyUnknown}, {"gpt-4-", FamilyUnknown}, // cl100k: German and Chinese take a third more
			{"gpt", FamilyOpenAI}, {"openai", FamilyOpenAI}, {"chatgpt", FamilyOpenAI},
		} {
			if strings.Contains(name, known.part) {
				return known.family
			}
		}
		if len(name) >= 2 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9' {
			return FamilyOpenAI // o1, o3, o4-mini
		}
	}
	return FamilyUnknown
}

// What providers add around the pieces. OpenAI's cookbook on counting tokens has 3 a message and 3
// for the answer's beginning; calls, results and tools are wrapped in markup that providers don't
// document.
const (
	perMessage = 4
	perCall    = 12
	perTool    = 16
)

// An Estimator is a [Counter] that knows characters per token by family and kind of text, and what
// providers document of images and documents. It errs on the high side. Its zero value is for an
// unknown model; it is safe for concurrent use as long as its fields don't change.
type Estimator struct {
	Family Family
	// Model is the model's id, for what differs within a family: how large images are.
	Model string
	// Tokenize counts a text exactly, in place of the estimate. It is safe for concurrent use.
	Tokenize func(text string) int
}

// NewEstimator returns an Estimator for a model.
func NewEstimator(info provider.ModelInfo) *Estimator {
	return &Estimator{Family: familyOf(info), Model: info.ID}
}

// CountText counts a text.
func (e *Estimator) CountText(text string) int {
	if e != nil && e.Tokenize != nil {
		return max(e.Tokenize(text), 0)
	}
	return e.scale(scan(text))
}

// CountMessage counts a message: its parts and 4 tokens around them.
func (e *Estimator) CountMessage(m *provider.Message) int {
	if m == nil {
		return 0
	}
	return plus(e.parts(m.Parts, maxNesting), perMessage)
}

// CountTool counts a tool: its name, description and schema, the longest of its options, since a
// request has those for one provider, and 16 tokens around them.
func (e *Estimator) CountTool(t *provider.Tool) int {
	if t == nil {
		return 0
	}
	options := 0
	for _, raw := range t.Options {
		options = max(options, e.CountText(string(raw)))
	}
	return plus(plus(e.CountText(t.Name), e.CountText(t.Description)),
		plus(e.CountText(string(t.Schema)), plus(options, perTool)))
}

// maxNesting bounds how deep results within results are followed.
const maxNesting = 8

func (e *Estimator) parts(parts []provider.Part, depth int) int {
	n := 0
	for i := range parts {
		n = plus(n, e.part(&parts[i], depth))
	}
	return n
}

// part counts a part. Opaque data counts as text, except where it is this package's own and never
// sent: a provider bills what it gets back of reasoning, and encrypted data is longer than what it
// stands for.
func (e *Estimator) part(p *provider.Part, depth int) int {
	n := 0
	if p.Text != "" {
		n = e.CountText(p.Text)
	}
	if c := p.Call; c != nil {
		n = plus(n, plus(e.CountText(c.Name), e.CountText(string(c.Input))))
		n = plus(n, plus(e.CountText(c.Invalid), perCall))
	}
	if r := p.Result; r != nil && depth > 0 {
		n = plus(n, plus(e.parts(r.Parts, depth-1), perCall))
	}
	if p.Media != nil {
		n = plus(n, e.media(p.Media))
	}
	if s := p.Source; s != nil {
		n = plus(n, plus(e.CountText(s.URL), plus(e.CountText(s.Title), e.CountText(s.Text))))
	}
	if o := p.Opaque; o != nil && o.Provider != markProvider {
		n = plus(n, e.CountText(o.Data))
	}
	return n
}

// scale brings thousandths of a token of o200k to tokens of the family, rounded up.
func (e *Estimator) scale(milli int) int {
	percent := families[FamilyUnknown]
	if e != nil {
		if known, ok := families[e.Family]; ok {
			percent = known
		}
	}
	if milli > math.MaxInt/percent {
		return math.MaxInt / 1000
	}
	return (milli*percent + 99_999) / 100_000
}
