package anthropic

import "github.com/pawlkit/pawl/provider"

// A thinking is the thinking field of a request.
type thinking struct {
	Type    string `json:"type"` // enabled, adaptive, disabled, between_tools
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"` // summarized, omitted
}

func (t *thinking) thinks() bool {
	return t != nil && (t.Type == "enabled" || t.Type == "adaptive")
}

// leastBudget is the smallest budget that the API accepts.
const leastBudget = 1024

// budgetOf returns the budget for an effort, for models that accept only a number.
func budgetOf(effort string) int {
	switch effort {
	case "minimal":
		return leastBudget
	case "low":
		return 4096
	case "medium":
		return 10_240
	case "high":
		return 24_576
	}
	return 32_000
}

// addThinking sets how the model thinks, in the fields that it accepts.
func (b *body) addThinking(req *provider.Request, t trait) {
	r := req.Reasoning
	if r == nil {
		return
	}
	forced := b.ToolChoice != nil && (b.ToolChoice.Type == "any" || b.ToolChoice.Type == "tool")
	switch {
	case r.Effort == "none":
		b.stopThinking(t)
	case forced || !t.Has(budgets|adapts): // the API rejects it
	case r.Budget > 0 && t.Has(budgets):
		b.think(r.Budget, r)
	case r.Budget <= 0 && r.Effort == "":
		if r.Hide && t.Has(adapts) {
			b.Thinking = &thinking{Type: "adaptive", Display: "omitted"}
		}
	case t.Has(adapts):
		b.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if r.Hide {
			b.Thinking.Display = "omitted"
		}
	default:
		b.think(budgetOf(r.Effort), r)
	}
	if effort := r.Effort; effort != "" && effort != "none" && t.Has(efforts) {
		if effort == "minimal" {
			effort = "low" // the smallest effort
		}
		b.setEffort(effort)
	}
}

// stopThinking disables thinking, or reduces it as far as the model allows.
func (b *body) stopThinking(t trait) {
	switch {
	case t.Has(always):
		b.setEffort("low")
	case t.Has(between):
		b.Thinking = &thinking{Type: "between_tools"}
	case t.Has(budgets | adapts):
		b.Thinking = &thinking{Type: "disabled"}
	}
}

// think sets a budget that leaves room for the answer. If there is no room, or the conversation
// doesn't allow it, the model doesn't think.
func (b *body) think(budget int, r *provider.ReasoningOptions) {
	budget = max(budget, leastBudget)
	if budget >= b.MaxTokens {
		budget = max(b.MaxTokens/2, leastBudget)
	}
	if budget >= b.MaxTokens || b.loopWithoutThinking() {
		return
	}
	b.Thinking = &thinking{Type: "enabled", Budget: budget}
	if r.Hide {
		b.Thinking.Display = "omitted"
	}
}

func (b *body) setEffort(effort string) {
	if b.OutputConfig == nil {
		b.OutputConfig = &outputConfig{}
	}
	b.OutputConfig.Effort = effort
}

// loopWithoutThinking reports whether there is an open tool loop whose calls came without thinking,
// for example from another provider: the API doesn't allow thinking to start within it.
func (b *body) loopWithoutThinking() bool {
	n := len(b.Messages)
	if n < 2 || b.Messages[n-1].Role != "user" {
		return false
	}
	if first, ok := b.Messages[n-1].Content[0].(*content); !ok || first.Type != "tool_result" {
		return false
	}
	first, ok := b.Messages[n-2].Content[0].(*content)
	return !ok || first.Type != "thinking" && first.Type != kindRedacted
}
