package gemini

import (
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// The prices were collected on this day from sources that cite this page. If a price is higher for
// prompts of more than 200,000 tokens, it is the higher one, so that no budget is exceeded
// unnoticed. They are the prices of text, and for models that make images those of images.
const (
	priceDate   = "2026-07-04"
	priceSource = "https://ai.google.dev/gemini-api/docs/pricing"
)

// A trait is a property that not all models have.
type trait = adapter.Trait

const (
	budgets trait = 1 << iota // thinking with a budget of tokens
	// thinking with a level; output schemas with tools; media in results; signatures required
	levels
	always    // thinking that can't be switched off
	lite      // budgets of at least 512 tokens
	twoLevels // no level between low and high
	images    // makes images

	otherwise = levels // unknown models are treated as newer ones
)

const million = 1_048_576

// families are the known models.
var families = []adapter.Family{
	{"gemini-3.5-flash", "Gemini 3.5 Flash", million, 65_536, levels, adapter.Prices{1.5, 9, .15}},
	{"gemini-3.1-pro", "Gemini 3.1 Pro", million, 65_536, levels | always, adapter.Prices{4, 18, .4}},
	{"gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite", million, 65_536, levels, adapter.Prices{.25, 1.5, .025}},
	{"gemini-3-pro-image", "Gemini 3 Pro Image", 65_536, 32_768, levels | always | images, adapter.Prices{}},
	{"gemini-3-pro", "Gemini 3 Pro", million, 65_536, levels | always | twoLevels, adapter.Prices{4, 18, .4}},
	{"gemini-3-flash", "Gemini 3 Flash", million, 65_536, levels, adapter.Prices{.5, 3, .05}},
	{"gemini-2.5-pro", "Gemini 2.5 Pro", million, 65_536, budgets | always, adapter.Prices{2.5, 15, .25}},
	{"gemini-2.5-flash", "Gemini 2.5 Flash", million, 65_536, budgets, adapter.Prices{.3, 2.5, .03}},
	{"gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", million, 65_536, budgets | lite, adapter.Prices{.1, .4, .01}},
	{"gemini-2.5-flash-image", "Gemini 2.5 Flash Image", 32_768, 32_768, images, adapter.Prices{.3, 30, .03}},
	{"gemini-2.0-flash", "Gemini 2.0 Flash", million, 8192, 0, adapter.Prices{.1, .4, .025}},
	{"gemini-2.0-flash-lite", "Gemini 2.0 Flash-Lite", million, 8192, 0, adapter.Prices{.075, .3, .075}},
	{"gemini-1.5-pro", "Gemini 1.5 Pro", 2 * million, 8192, 0, adapter.Prices{}},
	{"gemini-1.5-flash", "Gemini 1.5 Flash", million, 8192, 0, adapter.Prices{}},
	{"gemini-1.5-flash-8b", "Gemini 1.5 Flash-8B", million, 8192, 0, adapter.Prices{}},
}

var models = adapter.Models{Provider: Name, Families: families, Version: version, Date: priceDate, Source: priceSource,
	Complete: func(info *provider.ModelInfo, t trait) {
		info.Inputs, info.Reasoning = []string{"text", "image", "audio", "video", "document"}, t.Has(budgets|levels)
		if t.Has(images) {
			info.Inputs, info.Outputs = []string{"text", "image"}, []string{"text", "image"}
		}
	}}

// version matches what may follow a family's name.
var version = regexp.MustCompile(
	`^(-preview|-exp|-latest|-customtools)*(-\d{2}-\d{2}(-\d{4})?|-\d{2}-\d{4}|-\d{3})?(-thinking|-customtools)?$`)

// familyOf finds a model by the names that Google and gateways use.
func familyOf(id string) *adapter.Family { return models.Find(id[strings.LastIndexByte(id, '/')+1:]) }

// older matches older models that aren't in the table.
var older = regexp.MustCompile(`^(gemini-(1|2)(\.|-)|gemma|learnlm)`)

func traitsOf(id string) trait {
	if f := familyOf(id); f != nil {
		return f.Traits
	}
	switch id = id[strings.LastIndexByte(id, '/')+1:]; {
	case strings.HasPrefix(id, "gemini-2.5-"):
		return budgets
	case older.MatchString(id):
		return 0
	}
	return otherwise
}

// modelInfo returns the properties of a model: from the host, else from the table, else only its
// name.
func modelInfo(id string, known []provider.ModelInfo) provider.ModelInfo {
	if info, ok := adapter.Known(known, Name, id); ok {
		return info
	}
	if e, ok := embeddings[strings.TrimPrefix(id, "models/")]; ok {
		return e.Info(Name, id, embeddingsDate, priceSource)
	}
	return models.Info(familyOf(id), id)
}

// Models returns the properties of the common models, for hosts that let people choose one.
func Models() []provider.ModelInfo { return models.All() }
