package wire

import (
	"regexp"
	"strconv"

	"github.com/pawlkit/pawl/provider"
)

// ReportedUsage are a provider's own token counts, as they came; nil: not reported.
type ReportedUsage struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Reasoning  *int64 `json:"reasoning"`
}

// None reports that the provider said nothing.
func (f *ReportedUsage) None() bool {
	return f.Input == nil && f.Output == nil && f.CacheRead == nil && f.CacheWrite == nil && f.Reasoning == nil
}

// meanings is how each format's figures become a [provider.Usage], whose input counts all of the prompt and whose output
// counts all that was made.
var meanings = map[string]func(u *provider.Usage, body []byte){
	// Input comes without what was read from and written to the cache; output includes thinking.
	"anthropic-messages":       addCache,
	"bedrock-invoke-anthropic": addCache,
	"bedrock-converse":         addCache,

	// Input includes what is cached. Output includes reasoning, except with servers whose total says otherwise (xAI).
	"openai-chat": func(u *provider.Usage, body []byte) {
		if total := last(body, "total_tokens"); u.Reasoning > 0 && total == u.Input+u.Output+u.Reasoning {
			u.Output += u.Reasoning
		}
	},

	// Input includes what is cached, output includes reasoning.
	"openai-responses": func(*provider.Usage, []byte) {},

	// Input includes what is cached but not the results of tools that the provider ran (toolUsePromptTokenCount), which are
	// prompt too; output comes without thoughts.
	"gemini-generate-content": func(u *provider.Usage, body []byte) {
		u.Input += last(body, "toolUsePromptTokenCount")
		u.Output += u.Reasoning
	},
}

func addCache(u *provider.Usage, _ []byte) { u.Input += u.CacheRead + u.CacheWrite }

// Usage returns what an adapter makes of the figures of an answer: a figure that wasn't reported is 0. Some servers'
// figures can't be told apart without others that only the body has.
func Usage(wire string, f ReportedUsage, body []byte) provider.Usage {
	u := provider.Usage{Input: figure(f.Input), Output: figure(f.Output), CacheRead: figure(f.CacheRead),
		CacheWrite: figure(f.CacheWrite), Reasoning: figure(f.Reasoning)}
	if mean := meanings[wire]; mean != nil && !f.None() {
		mean(&u, body)
	}
	return u
}

func figure(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// last returns the last number with that key in the body, or 0.
func last(body []byte, key string) int64 {
	all := regexp.MustCompile(`"`+key+`"\s*:\s*(\d+)`).FindAllSubmatch(body, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(all[len(all)-1][1]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
