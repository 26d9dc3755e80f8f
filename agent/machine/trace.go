package machine

import "github.com/pawlkit/pawl/provider"

// A TraceStep is a model call as the facts record it: what the model was shown, what it replied,
// and the results of its calls.
type TraceStep struct {
	Run   string
	Step  int
	Seq   uint64 // the number of the fact with which it began
	Model string
	Mode  string
	// System is the system text if a hook changed it, and always with Config.Compose of package
	// agent. Otherwise it was the agent's own, which the facts don't contain.
	System string
	// Messages is the conversation that the model was shown.
	Messages   []provider.Message
	Tools      []string // the tools that were offered, in order
	ToolChoice provider.ToolChoice
	Final      string // the limit that was reached, if it was the last call
	// AnsweredBy is the hook that answered instead of the model.
	AnsweredBy string
	Again      bool // the same step was made again, after a crash

	// Reply is the model's reply, with its Usage, or the text of a reply that Failed. If both are
	// empty, the reply was lost.
	Reply  *provider.Message
	Stop   provider.StopReason
	Failed string
	Usage  provider.Usage
	Calls  []TraceCall
}

// A TraceCall is a call of a reply, and what happened to it.
type TraceCall struct {
	Call      *provider.ToolCall // with the input that ran
	Started   int                // how often it was started
	Pauses    []Pause
	Decisions []Decision
	Result    *ToolResult // nil if it has none yet
}
