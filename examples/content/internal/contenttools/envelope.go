package contenttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools/mock"
)

// An Envelope is the answer of every tool.
type Envelope struct {
	Success          bool            `json:"success"`
	TraceID          string          `json:"traceId"`
	Duration         int64           `json:"duration"` // ms
	StatusTransition *Moved          `json:"statusTransition,omitempty"`
	Data             json.RawMessage `json:"data,omitempty"`
	Error            *Problem        `json:"error,omitempty"`
	// ContentHash is that of the artifact's text after the tool; with it the effect is verified.
	ContentHash string `json:"contentHash,omitempty"`
}

// Moved is a change of status.
type Moved struct {
	From portfolio.Status `json:"from"`
	To   portfolio.Status `json:"to"`
}

// A Problem is the error of an Envelope.
type Problem struct {
	Category    portfolio.Category `json:"category"`
	Message     string             `json:"message"`
	Recoverable bool               `json:"recoverable"`
	Status      portfolio.Status   `json:"status,omitempty"`     // of the artifact, if it forbids the tool
	RetryAfter  int                `json:"retryAfter,omitempty"` // s; 0: unknown
}

// A Failure is the error of a tool. Its text is an [Envelope], as a model and a plan read it.
type Failure struct {
	Envelope Envelope
	Err      error
}

// Error returns the envelope as JSON.
func (f *Failure) Error() string {
	text, _ := json.Marshal(f.Envelope) // its Data is empty
	return string(text)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Fault returns the class of the cause.
func (f *Failure) Fault() fault.Class { return fault.Of(f.Err) }

// Explain returns what kind of error err is, and what to tell the user.
func Explain(err error) *Problem {
	wait, _ := fault.RetryAfter(err)
	seconds := int(math.Ceil(wait.Seconds()))
	var e *portfolio.Error
	if errors.As(err, &e) {
		return &Problem{Category: e.Category, Message: e.Message, Status: e.Status,
			Recoverable: e.Category != portfolio.Unauthorized, RetryAfter: seconds}
	}
	if full, ok := errors.AsType[*budget.Error](err); ok {
		return &Problem{Category: portfolio.RateLimitExceeded, Recoverable: true,
			Message: fmt.Sprintf(
				"Monthly token limit reached: %d of %d tokens are used. Upgrade your plan, or wait for the next month.",
				full.Spent, full.Limit)}
	}
	p, known := explained[fault.Of(err)]
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		p = Problem{Category: portfolio.ToolTimeout, Message: "The step took too long."}
	case !known:
		p = Problem{Category: portfolio.ToolExecutionFailed, Message: "The step failed. Nothing of it was kept."}
	case p.Message == "":
		p.Message = fixable(err)
	}
	p.Recoverable, p.RetryAfter = true, seconds
	return &p
}

// silent says that the services for texts don't work at the moment.
var silent = Problem{Category: portfolio.AIProviderError,
	Message: "The service for texts doesn't answer at the moment."}

// explained are the problems that errors of these classes are. Without a message, it is that of
// fixable.
var explained = map[fault.Class]Problem{
	fault.RateLimited: {Category: portfolio.AIRateLimit,
		Message: "The service for texts is busy. Try again in a minute."},
	fault.UserFixable: {Category: portfolio.AIProviderError}, fault.Transient: silent, fault.Degraded: silent,
	fault.Denied: {Category: portfolio.AIContentFilter,
		Message: "The service for texts refuses this content. Put it in other words."},
}

// fixable says what is wrong and what somebody has to do about it. It has nothing that a provider
// wrote.
func fixable(err error) string {
	text := "The AI service can't be used"
	if e, ok := errors.AsType[*mock.FileError](err); ok {
		return fmt.Sprintf("The mock file %s can't be used: %v. Correct it.", e.File, e.Err)
	} else if p := provider.ProblemOf(err); p != nil {
		return p.Words()
	}
	if remedy, ok := fault.Remedy(err); ok {
		return text + ". To do: " + remedy + "."
	}
	return text + ". Whoever runs this program has to correct its settings."
}

// ReadFailure returns the problem in the text of a failed call, if there is one.
func ReadFailure(text string) (*Problem, bool) {
	var e Envelope
	if json.Unmarshal([]byte(text), &e) != nil || e.Error == nil {
		return nil, false
	}
	return e.Error, true
}
