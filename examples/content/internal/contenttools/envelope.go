package contenttools

import (
	"cmp"
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
	said := provider.ProblemOf(err)
	file, mocked := errors.AsType[*mock.FileError](err)
	p := Problem{Category: portfolio.AIProviderError, Recoverable: true, RetryAfter: seconds}
	switch {
	case mocked:
		p.Message = fmt.Sprintf("The mock file %s can't be used: %v. Correct it.", file.File, file.Err)
	case errors.Is(err, context.DeadlineExceeded) && (said == nil || said.Provider == ""):
		p.Category, p.Message = portfolio.ToolTimeout, "The step took too long."
	case said != nil:
		p.Category, p.Message = cmp.Or(categories[said.Kind], p.Category), said.Words()
	case fault.Of(err) == fault.Denied:
		p.Category = portfolio.AIContentFilter
		p.Message = "The service for texts refuses this content. Put it in other words."
	case fault.Of(err) == fault.UserFixable:
		p.Message = "The AI service can't be used. Whoever runs this program has to correct its settings."
		if remedy, ok := fault.Remedy(err); ok {
			p.Message = "The AI service can't be used. To do: " + remedy + "."
		}
	default:
		p.Category, p.Message = portfolio.ToolExecutionFailed, "The step failed. Nothing of it was kept."
	}
	return &p
}

// categories are those of the problems of providers that aren't AIProviderError.
var categories = map[string]portfolio.Category{provider.ProblemRate: portfolio.AIRateLimit,
	provider.ProblemRefused: portfolio.AIContentFilter}

// ReadFailure returns the problem in the text of a failed call, if there is one.
func ReadFailure(text string) (*Problem, bool) {
	var e Envelope
	if json.Unmarshal([]byte(text), &e) != nil || e.Error == nil {
		return nil, false
	}
	return e.Error, true
}
