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
type trait = adapter.Trait

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

const million = 1_000_000

// families are the known models. Haiku 5.5 has two prices: these are for prompts of more than
// 100,000 tokens, five times those for shorter ones, so that no budget is exceeded unnoticed.
var families = []adapter.Family{
	{"claude-fable-5-1", "Claude Fable 5.1", million, 128_000, claude47 | always, adapter.Prices{10, 50, .25, 12.5}},
	{"claude-fable-5", "Claude Fable 5", million, 128_000, claude47 | always, adapter.Prices{10, 50, 1, 12.5}},
	{"claude-mythos-5-1", "Claude Mythos 5.1", million, 128_000, claude47 | always, adapter.Prices{10, 50, .25, 12.5}},
	{"claude-mythos-5", "Claude Mythos 5", million, 128_000, claude47 | always, adapter.Prices{10, 50, 1, 12.5}},
	{"claude-opus-5-5", "Claude Opus 5.5", million, 128_000, claude47 | always, adapter.Prices{4, 20, .2, 5}},
	{"claude-opus-5", "Claude Opus 5", million, 128_000, claude47, adapter.Prices{5, 25, .5, 6.25}},
	{"claude-sonnet-5-5", "Claude Sonnet 5.5", million, 128_000, claude47 | between, adapter.Prices{2, 10, .1, 2.5}},
	{"claude-sonnet-5", "Claude Sonnet 5", million, 128_000, claude47, adapter.Prices{2, 10, .2, 2.5}},
	{"claude-haiku-5-5", "Claude Haiku 5.5", million, 128_000, claude47, adapter.Prices{.5, 2.5, .05, .625}},
	{"claude-opus-4-8", "Claude Opus 4.8", million, 128_000, claude47, adapter.Prices{5, 25, .5, 6.25}},
	{"claude-opus-4-7", "Claude Opus 4.7", million, 128_000, claude47, adapter.Prices{5, 25, .5, 6.25}},
	{"claude-opus-4-6", "Claude Opus 4.6", million, 128_000, claude46, adapter.Prices{5, 25, .5, 6.25}},
	{"claude-sonnet-4-6", "Claude Sonnet 4.6", 1_000_000, 64_000, claude46, adapter.Prices{3, 15, .3, 3.75}},
	{"claude-opus-4-5", "Claude Opus 4.5", 200_000, 64_000, claude45 | efforts, adapter.Prices{5, 25, .5, 6.25}},
	{"claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, 64_000, claude45, adapter.Prices{3, 15, .3, 3.75}},
	{"claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, claude45, adapter.Prices{1, 5, .1, 1.25}},
	{"claude-opus-4-1", "Claude Opus 4.1", 200_000, 32_000, claude4, adapter.Prices{15, 75, 1.5, 18.75}},
	{"claude-opus-4", "Claude Opus 4", 200_000, 32_000, claude4, adapter.Prices{15, 75, 1.5, 18.75}},
	{"claude-sonnet-4", "Claude Sonnet 4", 200_000, 64_000, claude4, adapter.Prices{3, 15, .3, 3.75}},
	{"claude-3-7-sonnet", "Claude Sonnet 3.7", 200_000, 64_000, claude4, adapter.Prices{3, 15, .3, 3.75}},
	{"claude-3-5-sonnet", "Claude Sonnet 3.5", 200_000, 8_192, claude3, adapter.Prices{3, 15, .3, 3.75}},
	{"claude-3-5-haiku", "Claude Haiku 3.5", 200_000, 8_192, claude3, adapter.Prices{.8, 4, .08, 1}},
	{"claude-3-opus", "Claude Opus 3", 200_000, 4_096, claude3, adapter.Prices{15, 75, 1.5, 18.75}},
	{"claude-3-haiku", "Claude Haiku 3", 200_000, 4_096, claude3, adapter.Prices{.25, 1.25, .03, .3}},
}

var models = adapter.Models{Provider: Name, Families: families, Version: version, Date: priceDate, Source: priceSource,
	Complete: func(info *provider.ModelInfo, t trait) {
		info.Inputs, info.Reasoning = []string{"text", "image", "document"}, t.Has(budgets|adapts)
	}}

// version matches what may follow a family's name: a date, an alias, the version of a cloud.
var version = regexp.MustCompile(`^(-0|-latest|[-@]\d{8})?(-v\d+(:\d+)*)?$`)

// familyOf finds a model by the names that Anthropic, clouds and gateways use.
func familyOf(id string) *adapter.Family {
	at := strings.Index(id, "claude-")
	if at < 0 {
		return nil
	}
	return models.Find(strings.ReplaceAll(id[at:], ".", "-"))
}

func traitsOf(id string) trait {
	if f := familyOf(id); f != nil {
		return f.Traits
	}
	return otherwise
}

// modelInfo returns the properties of a model: from the host, else from the table, else only its
// name.
func modelInfo(id string, known []provider.ModelInfo) provider.ModelInfo {
	if info, ok := adapter.Known(known, Name, id); ok {
		return info
	}
	return models.Info(familyOf(id), id)
}

// Models returns the properties of the common models, for hosts that let people choose one.
func Models() []provider.ModelInfo { return models.All() }
