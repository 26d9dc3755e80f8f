package portfolio

import (
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Category says what kind of error it is, in the words of the HTTP API.
type Category string

// The categories.
const (
	ToolExecutionFailed Category = "TOOL_EXECUTION_FAILED"
	ToolTimeout         Category = "TOOL_TIMEOUT"
	AIProviderError     Category = "AI_PROVIDER_ERROR"
	AIRateLimit         Category = "AI_RATE_LIMIT"
	AIContentFilter     Category = "AI_CONTENT_FILTER"
	ArtifactNotFound    Category = "ARTIFACT_NOT_FOUND"
	ResearchNotFound    Category = "RESEARCH_NOT_FOUND"
	InvalidStatus       Category = "INVALID_STATUS"
	MissingContext      Category = "MISSING_CONTEXT"
	InvalidArtifactID   Category = "INVALID_ARTIFACT_ID"
	InvalidInput        Category = "INVALID_INPUT"
	InvalidTone         Category = "INVALID_TONE"
	InvalidContentType  Category = "INVALID_CONTENT_TYPE"
	UnclearIntent       Category = "UNCLEAR_INTENT"
	Conflict            Category = "CONFLICT"
	Unauthorized        Category = "UNAUTHORIZED"
	RateLimitExceeded   Category = "RATE_LIMIT_EXCEEDED"
)

// classes say what to do about the errors of a category; the others are invalid.
var classes = map[Category]fault.Class{
	ToolExecutionFailed: fault.Permanent, ToolTimeout: fault.Transient, AIProviderError: fault.Degraded,
	AIRateLimit:      fault.RateLimited,
	ArtifactNotFound: fault.NotFound, ResearchNotFound: fault.NotFound, Conflict: fault.Denied,
	Unauthorized: fault.Denied, RateLimitExceeded: fault.RateLimited,
}

// An Error says what was wrong with a request and what would be right, for a person or a model.
type Error struct {
	Category Category
	Message  string
	Status   Status // of the artifact, for InvalidStatus
	Err      error  // the cause; nil if there is none
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fault returns the class of the cause if it may pass, and otherwise that of the category.
func (e *Error) Fault() fault.Class {
	if e.Err != nil {
		if c := fault.Of(e.Err); fault.Retryable(c) || c == fault.None {
			return c
		}
	}
	if c, ok := classes[e.Category]; ok {
		return c
	}
	return fault.Invalid
}

// Errorf returns an Error.
func Errorf(c Category, format string, args ...any) *Error {
	return &Error{Category: c, Message: fmt.Sprintf(format, args...)}
}

func notFound() *Error {
	return Errorf(ArtifactNotFound, "There is no such article.")
}
