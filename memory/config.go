package memory

import "github.com/pawlkit/pawl/provider"

// A Config says how a [Compactor] keeps a conversation within a window. Its zero value is for an
// unknown model: 128,000 tokens, counted by an [Estimator], compacted at 70 % by [DefaultSteps]
// without a summary.
type Config struct {
	Window  Window
	Counter Counter // nil: an Estimator of an unknown model, which also stands in where a Counter panics
	// Rules say when to compact; nil: at 70 % of the window less its reserve. An empty list: only
	// when the request doesn't fit, and then to half of that, or by hand.
	Rules []Rule
	// Steps is the pipeline of a rule that has none of its own, and of a request that doesn't fit;
	// nil: [DefaultSteps].
	Steps []Step
	// Keep is how many of the last groups no strategy touches; 0: 5; less than 1: 1. A compaction
	// keeps fewer if these groups alone exceed its target; otherwise nearly every step would be
	// compacted. A warning says so once a Compactor, and again for another window. The targets of
	// OnSubgoal and OnPhase, and one by hand, don't count.
	Keep int
	// Store keeps what is taken out, so that the model can read it back; nil: it is gone from the
	// conversation.
	Store Store
	// ResultShare is the most that one tool result takes of the window in a request. A larger one
	// is cut when it comes in, also if it belongs to the step under way, and a handle in its place
	// reads the whole ([ReadBack]). 0: as much as there is; package agent takes a quarter then.
	ResultShare float64
	// Whole keeps results that were cut for taking more than ResultShare; nil: Store.
	Whole Store
	// Subgoals finds the subgoals of the conversation; nil: it has none.
	Subgoals Finder
	// Asks names a provider that counts requests ([provider.CountTokens]), to correct what is
	// counted here. It is asked when a request passes half of the budget and again each time it has
	// grown by a quarter since. nil: never.
	Asks provider.Provider
}

// DefaultSteps is the order in which a conversation is compacted: superseded results, big results,
// finished subgoals, a summary by a model if summarise isn't nil, groups moved to the Store, groups
// dropped. The first two have a floor of 1,000 tokens.
func DefaultSteps(summarise *Summarise) []Step {
	steps := []Step{{DropSuperseded{}, 1_000}, {CutResults{}, 1_000}, {Subgoals{}, 0}}
	if summarise != nil {
		steps = append(steps, Step{summarise, 0})
	}
	return append(steps, Step{Offload{}, 0}, Step{Slide{}, 0})
}
