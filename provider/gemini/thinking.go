package gemini

import "github.com/pawlkit/pawl/provider"

// A thinking is the thinking configuration of a request.
type thinking struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// thinkingOf returns the configuration for a model; nil uses the model's default.
func thinkingOf(r *provider.ReasoningOptions, t trait) *thinking {
	if r == nil || !t.Has(budgets|levels) {
		return nil
	}
	out := &thinking{Include: !r.Hide && r.Effort != "none"}
	switch {
	case r.Budget > 0 && (r.Effort == "" || !t.Has(levels)):
		budget := r.Budget
		if t.Has(budgets) {
			budget = clamp(t, budget)
		}
		out.Budget = &budget // the models that take levels take one instead of a level, too
	case r.Effort == "":
	case t.Has(levels):
		out.Level = level(t, r.Effort)
	default:
		budget := clamp(t, budgetOf(r.Effort))
		out.Budget = &budget
	}
	if *out == (thinking{}) {
		return nil
	}
	return out
}

// budgetOf is what an effort comes to with models that take a number. The figures are those of the
// API's own layer for clients of OpenAI: https://ai.google.dev/gemini-api/docs/openai.
func budgetOf(effort string) int {
	switch effort {
	case "none":
		return 0
	case "minimal", "low":
		return 1024
	case "medium":
		return 8192
	}
	return 24_576
}

// clamp brings a budget into what the model takes. See
// https://ai.google.dev/gemini-api/docs/thinking.
func clamp(t trait, budget int) int {
	switch {
	case t.Has(always):
		return min(max(budget, 128), 32_768)
	case t.Has(lite) && budget > 0:
		return min(max(budget, 512), 24_576)
	}
	return min(max(budget, 0), 24_576)
}

// level returns the level for an effort: the nearest that the model has.
func level(t trait, effort string) string {
	switch effort {
	case "none", "minimal":
		if t.Has(always) {
			return "LOW"
		}
		return "MINIMAL"
	case "low":
		return "LOW"
	case "medium":
		if t.Has(twoLevels) {
			return "HIGH"
		}
		return "MEDIUM"
	}
	return "HIGH"
}
