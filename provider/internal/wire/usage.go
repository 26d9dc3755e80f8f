package wire

import (
	"regexp"
	"strconv"

	"github.com/pawlkit/pawl/provider"
)

// ReportedUsage has a provider's own token counts; nil: not reported.
type ReportedUsage struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Reasoning  *int64 `json:"reasoning"`
}

// None reports whether nothing was reported.
func (f *ReportedUsage) None() bool {
	return f.Input == nil && f.Output == nil && f.CacheRead == nil && f.CacheWrite == nil && f.Reasoning == nil
}

// meanings convert each format's figures to a [provider.Usage], whose input counts the whole prompt and whose output
// counts all generated tokens.
var meanings = map[string]func(u *provider.Usage, body []byte){
	// Input excludes tokens read from and written to the cache; output includes thinking.
	"anthropic-messages":       addCache,
	"bedrock-invoke-anthropic": addCache,
	"bedrock-converse":         addCache,

	// Input includes cached tokens. Output includes reasoning, except with servers whose total shows otherwise (xAI).
	"openai-chat": func(u *provider.Usage, body []byte) {
		if total := last(body, "total_tokens"); u.Reasoning > 0 && total == u.Input+u.Output+u.Reasoning {
			u.Output += u.Reasoning
		}
	},

	// Input includes cached tokens, output includes reasoning.
	"openai-responses": func(*provider.Usage, []byte) {},

	// Input includes cached tokens but not the results of tools that the provider ran (toolUsePromptTokenCount), which are
	// part of the prompt, too; output excludes thoughts.
	"gemini-generate-content": func(u *provider.Usage, body []byte) {
		u.Input += last(body, "toolUsePromptTokenCount")
		u.Output += u.Reasoning
	},
}

func addCache(u *provider.Usage, _ []byte) { u.Input += u.CacheRead + u.CacheWrite }

// Usage returns the expected usage for the figures of an answer; a figure that wasn't reported is 0. For some servers, the figures
// are ambiguous without others that only the body has.
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
