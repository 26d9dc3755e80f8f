package anthropic

import (
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// The prices come from this page, on this day.
const (
	priceDate   = "2026-10-24"
	priceSource = "https://platform.claude.com/docs/en/about-claude/pricing"
)

// A trait is a property that not all models have.
type trait uint16

const (
	budgets   trait = 1 << iota // thinking with a budget of tokens
	adapts                      // adaptive thinking
	always                      // thinking that can't be switched off
	between                     // thinking only between tools, instead of none
	efforts                     // output_config.effort
	formats                     // output_config.format
	samplings                   // temperature, top_p, top_k

	claude3   = samplings
	claude4   = samplings | budgets
	claude45  = claude4 | formats
	claude46  = claude45 | adapts | efforts
	claude47  = adapts | efforts | formats
	otherwise = claude46 // models of other vendors, and newer ones
)

// A family is a model with all its names.
type family struct {
	id     string // without a date
	name   string
	window int // in thousands of tokens
	output int
	traits trait
	prices [4]float64 // dollars per million tokens: input, output, read from and written to the cache for 5 minutes
}

// families are the known models. Haiku 5.5 has two prices: these are for prompts of more than
// 100,000 tokens, five times those for shorter ones, so that no budget is exceeded unnoticed.
var families = []family{
	{"claude-fable-5-1", "Claude Fable 5.1", 1000, 128_000, claude47 | always, [4]float64{10, 50, .25, 12.5}},
	{"claude-fable-5", "Claude Fable 5", 1000, 128_000, claude47 | always, [4]float64{10, 50, 1, 12.5}},
	{"claude-mythos-5-1", "Claude Mythos 5.1", 1000, 128_000, claude47 | always, [4]float64{10, 50, .25, 12.5}},
	{"claude-mythos-5", "Claude Mythos 5", 1000, 128_000, claude47 | always, [4]float64{10, 50, 1, 12.5}},
	{"claude-opus-5-5", "Claude Opus 5.5", 1000, 128_000, claude47 | always, [4]float64{4, 20, .2, 5}},
	{"claude-opus-5", "Claude Opus 5", 1000, 128_000, claude47, [4]float64{5, 25, .5, 6.25}},
	{"claude-sonnet-5-5", "Claude Sonnet 5.5", 1000, 128_000, claude47 | between, [4]float64{2, 10, .1, 2.5}},
	{"claude-sonnet-5", "Claude Sonnet 5", 1000, 128_000, claude47, [4]float64{2, 10, .2, 2.5}},
	{"claude-haiku-5-5", "Claude Haiku 5.5", 1000, 128_000, claude47, [4]float64{.5, 2.5, .05, .625}},
	{"claude-opus-4-8", "Claude Opus 4.8", 1000, 128_000, claude47, [4]float64{5, 25, .5, 6.25}},
	{"claude-opus-4-7", "Claude Opus 4.7", 1000, 128_000, claude47, [4]float64{5, 25, .5, 6.25}},
	{"claude-opus-4-6", "Claude Opus 4.6", 1000, 128_000, claude46, [4]float64{5, 25, .5, 6.25}},
	{"claude-sonnet-4-6", "Claude Sonnet 4.6", 1000, 64_000, claude46, [4]float64{3, 15, .3, 3.75}},
	{"claude-opus-4-5", "Claude Opus 4.5", 200, 64_000, claude45 | efforts, [4]float64{5, 25, .5, 6.25}},
	{"claude-sonnet-4-5", "Claude Sonnet 4.5", 200, 64_000, claude45, [4]float64{3, 15, .3, 3.75}},
	{"claude-haiku-4-5", "Claude Haiku 4.5", 200, 64_000, claude45, [4]float64{1, 5, .1, 1.25}},
	{"claude-opus-4-1", "Claude Opus 4.1", 200, 32_000, claude4, [4]float64{15, 75, 1.5, 18.75}},
	{"claude-opus-4", "Claude Opus 4", 200, 32_000, claude4, [4]float64{15, 75, 1.5, 18.75}},
	{"claude-sonnet-4", "Claude Sonnet 4", 200, 64_000, claude4, [4]float64{3, 15, .3, 3.75}},
	{"claude-3-7-sonnet", "Claude Sonnet 3.7", 200, 64_000, claude4, [4]float64{3, 15, .3, 3.75}},
	{"claude-3-5-sonnet", "Claude Sonnet 3.5", 200, 8_192, claude3, [4]float64{3, 15, .3, 3.75}},
	{"claude-3-5-haiku", "Claude Haiku 3.5", 200, 8_192, claude3, [4]float64{.8, 4, .08, 1}},
	{"claude-3-opus", "Claude Opus 3", 200, 4_096, claude3, [4]float64{15, 75, 1.5, 18.75}},
	{"claude-3-haiku", "Claude Haiku 3", 200, 4_096, claude3, [4]float64{.25, 1.25, .03, .3}},
}

// version matches what may follow a family's name: a date, an alias, the version of a cloud.
var version = regexp.MustCompile(`^(-0|-latest|[-@]\d{8})?(-v\d+(:\d+)*)?$`)

// familyOf finds a model by the names that Anthropic, clouds and gateways use.
func familyOf(id string) *family {
	at := strings.Index(id, "claude-")
	if at < 0 {
		return nil
	}
	id = strings.ReplaceAll(id[at:], ".", "-")
	for i := range families {
		if rest, ok := strings.CutPrefix(id, families[i].id); ok && version.MatchString(rest) {
			return &families[i]
		}
	}
	return nil
}

func traitsOf(id string) trait {
	if f := familyOf(id); f != nil {
		return f.traits
	}
	return otherwise
}

func (t trait) has(other trait) bool { return t&other != 0 }

// modelInfo returns the properties of a model: from the host, else from the table, else only its
// name.
func modelInfo(id string, known []provider.ModelInfo) provider.ModelInfo {
	if info, ok := adapter.Known(known, Name, id); ok {
		return info
	}
	f := familyOf(id)
	if f == nil {
		return provider.ModelInfo{Provider: Name, ID: id}
	}
	info := f.info()
	info.ID = id
	return info
}

func (f *family) info() provider.ModelInfo {
	usd := func(dollars float64) provider.Money { return provider.Money(dollars*float64(provider.USD) + .5) }
	return provider.ModelInfo{
		Provider:  Name,
		ID:        f.id,
		Name:      f.name,
		Window:    f.window * 1000,
		MaxOutput: f.output,
		Inputs:    []string{"text", "image", "document"},
		Outputs:   []string{"text"},
		Reasoning: f.traits.has(budgets | adapts),
		Prices: &provider.Prices{
			Input: usd(f.prices[0]), Output: usd(f.prices[1]), CacheRead: usd(f.prices[2]),
			CacheWrite: usd(f.prices[3]),
			Date:       priceDate, Source: priceSource,
		},
	}
}

// Models returns the properties of the common models, for hosts that let people choose one.
func Models() []provider.ModelInfo {
	infos := make([]provider.ModelInfo, len(families))
	for i := range families {
		infos[i] = families[i].info()
	}
	return infos
}
