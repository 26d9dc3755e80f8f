package memory

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// A Family is a group of models that cut text into tokens alike.
type Family string

// The families that are known. Any other name counts as [FamilyUnknown].
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

// families says by how many percent the tokens of a family outnumber those of o200k, on which the estimate of a text is
// fitted. OpenAI 100: measured, see the package documentation. Anthropic 130: its documentation tells of 3.5 English
// characters a token where OpenAI's and Google's tell of 4, and of up to 35 % more tokens since Claude Opus 4.7. Gemini 105:
// 4 characters a token. The others have published vocabularies of 128,000 to 152,000 entries, between cl100k (up to 10 %
// more tokens than o200k on English and code) and o200k; older Mistral models have 32,000. What is unknown counts as the
// hungriest.
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

// FamilyOf guesses the family from the names of the model and its provider; the model's own name wins.
func FamilyOf(info provider.ModelInfo) Family {
	for _, name := range []string{info.ID, info.Name, info.Provider} {
		name = strings.ToLower(name)
		if strings.HasSuffix(name, "gpt-4") { // cl100k, as below
			return FamilyUnknown
		}
		for _, known := range [...]struct {
			part   string
			family Family
		}{
			{"claude", FamilyAnthropic}, {"anthropic", FamilyAnthropic}, {"deepseek", FamilyDeepSeek}, {"qwen", FamilyQwen},
			{"llama", FamilyLlama}, {"mistral", FamilyMistral}, {"mixtral", FamilyMistral}, {"codestral", FamilyMistral},
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

// What providers add around the pieces. OpenAI's cookbook on counting tokens has 3 a message and 3 for the answer's
// beginning; calls, results and tools are wrapped in markup that providers don't document.
const (
	perMessage = 4
	perCall    = 12
	perTool    = 16
)

// An Estimator is a [Counter] that knows characters per token by family and kind of text, and what providers document of
// images and documents. It errs on the high side. Its zero value is for an unknown model; it is safe for concurrent use
// as long as its fields don't change.
type Estimator struct {
	Family Family
	// Model is the model's id, for what differs within a family: how large images are.
	Model string
	// Tokenize counts a text exactly, in place of the estimate. It is safe for concurrent use.
	Tokenize func(text string) int
}

// NewEstimator returns an Estimator for a model.
func NewEstimator(info provider.ModelInfo) *Estimator {
	return &Estimator{Family: FamilyOf(info), Model: info.ID}
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

// CountTool counts a tool: its name, description and schema, and 16 tokens around them.
func (e *Estimator) CountTool(t *provider.Tool) int {
	if t == nil {
		return 0
	}
	return plus(plus(e.CountText(t.Name), e.CountText(t.Description)), plus(e.CountText(string(t.Schema)), perTool))
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

// part counts a part. Opaque data counts as text, except where it is this package's own and never sent: a provider bills
// what it gets back of reasoning, and encrypted data is longer than what it stands for.
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

// Kinds of characters. Vocabularies cut text at the borders between them before anything else.
const (
	kindLetter = iota
	kindDigit
	kindSpace
	kindMark // punctuation and signs of ASCII
)

var kinds = func() (k [128]uint8) {
	for c := range k {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			k[c] = kindLetter
		case c >= '0' && c <= '9':
			k[c] = kindDigit
		case c <= ' ' || c == 127:
			k[c] = kindSpace
		default:
			k[c] = kindMark
		}
	}
	return k
}()

// scan estimates a text in thousandths of a token of o200k. It walks it once, by runs of characters of one kind.
func scan(s string) int {
	milli, glued := 0, 0 // glued: how many words and numbers there are in a row without anything between
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if isLatin(r) {
				var m int
				m, i = word(s, i)
				milli += m
				continue
			}
			glued = 0
			milli += runeCost(r)
			i += size
			continue
		}
		if k := kinds[c]; k == kindSpace || k == kindMark {
			glued = 0
		} else if glued++; glued > 4 { // base64 and the like
			milli += gluedEach
		}
		switch kinds[c] {
		case kindLetter:
			var m int
			m, i = word(s, i)
			milli += m
		case kindDigit: // up to three digits are one token
			j := i
			for j < len(s) && s[j] < utf8.RuneSelf && kinds[s[j]] == kindDigit {
				j++
			}
			milli += (j - i + 2) / 3 * 1000
			i = j
		case kindSpace: // one blank goes with the word behind it
			j := i + 1
			for j < len(s) && s[j] < utf8.RuneSelf && kinds[s[j]] == kindSpace {
				j++
			}
			if n := j - i; n > 1 || c != ' ' {
				milli += spaceRun + n*spaceEach
			}
			i = j
		default:
			j := i + 1
			for j < len(s) && s[j] < utf8.RuneSelf && kinds[s[j]] == kindMark {
				j++
			}
			milli += markRun + (j-i)*markEach
			i = j
		}
	}
	return milli
}

// word estimates the run of Latin letters that begins at i, and returns where it ends. A capital behind a small letter
// begins another word, as in names of code.
func word(s string, i int) (milli, end int) {
	n, foreign, upper, vowels := 0, 0, 0, 0
	lower := false
	j := i
	for j < len(s) {
		c := s[j]
		if c < utf8.RuneSelf {
			if kinds[c] != kindLetter {
				break
			}
			if c <= 'Z' {
				if lower {
					break
				}
				upper++
			} else {
				lower = true
			}
			switch c | 0x20 {
			case 'a', 'e', 'i', 'o', 'u', 'y':
				vowels++
			}
			n++
			j++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[j:])
		if !isLatin(r) {
			break
		}
		lower, n, foreign, vowels = true, n+1, foreign+1, vowels+1
		j += size
	}
	milli = wordBase
	if n > wordFree {
		milli += (n - wordFree) * wordEach
	}
	if n > 12 {
		milli += (n - 12) * longEach
	}
	milli += foreign * foreignEach
	if upper > 2 { // constants and base64
		milli += (upper - 2) * upperEach
	}
	if n >= 4 && vowels*5 < n { // hashes, abbreviations
		milli += n * oddEach
	}
	return milli, j
}

// Figures in thousandths of a token, fitted on samples of English, code, JSON, German and Chinese against o200k.
const (
	wordBase    = 1040
	wordFree    = 5 // letters that a word has for its base
	wordEach    = 95
	longEach    = 150
	gluedEach   = 450
	foreignEach = 380
	upperEach   = 250
	oddEach     = 130
	spaceRun    = 500
	spaceEach   = 20
	markRun     = 550
	markEach    = 330
)

func isLatin(r rune) bool { return r >= 0xC0 && r <= 0x24F && r != 0xD7 && r != 0xF7 }

// runeCost is what a character takes that is neither ASCII nor Latin.
func runeCost(r rune) int {
	switch {
	case r >= 0x4E00 && r <= 0x9FFF: // Chinese
		return 800
	case r >= 0x3040 && r <= 0x30FF: // Japanese syllables
		return 900
	case r >= 0xAC00 && r <= 0xD7A3: // Korean
		return 800
	case r >= 0x370 && r <= 0x3FF: // Greek
		return 600
	case r >= 0x400 && r <= 0x52F: // Cyrillic
		return 420
	case r >= 0x590 && r <= 0x6FF: // Hebrew, Arabic
		return 550
	case r >= 0x900 && r <= 0xDFF: // India
		return 650
	case r >= 0xE00 && r <= 0xE7F: // Thai
		return 650
	case r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFFEF, r >= 0x2010 && r <= 0x206F: // punctuation
		return 1000
	case r > 0xFFFF: // emoji and rare characters, byte by byte
		return 3000
	}
	return 2000
}
