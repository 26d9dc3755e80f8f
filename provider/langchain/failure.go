package langchain

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/httpguard"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// classes are the classes of langchaingo's own error codes.
var classes = map[llms.ErrorCode]fault.Class{
	llms.ErrCodeAuthentication:      fault.UserFixable,
	llms.ErrCodeQuotaExceeded:       fault.UserFixable,
	llms.ErrCodeRateLimit:           fault.RateLimited,
	llms.ErrCodeTimeout:             fault.Transient,
	llms.ErrCodeProviderUnavailable: fault.Degraded,
	llms.ErrCodeInvalidRequest:      fault.Permanent,
	llms.ErrCodeResourceNotFound:    fault.Permanent,
	llms.ErrCodeContentFilter:       fault.Permanent,
	llms.ErrCodeTokenLimit:          fault.Permanent,
	llms.ErrCodeNotImplemented:      fault.Permanent,
}

var remedies = map[llms.ErrorCode]string{
	llms.ErrCodeAuthentication: "give the langchaingo model a valid key",
	llms.ErrCodeQuotaExceeded:  "raise the quota or settle the bill of the account",
}

// statusText matches a status in a message of langchaingo's models.
var statusText = regexp.MustCompile(
	`(?i)\bstatus(?:[ _]code)?:?\s*\(?([1-5]\d\d)\b|\bError ([1-5]\d\d)\b|\bHTTP ([1-5]\d\d)\b`)

// failure converts an error of a langchaingo model. The result contains no secret of the model's
// requests.
func (p *Provider) failure(err error, secrets *httpguard.Secrets) error {
	if errors.Is(err, provider.ErrIncomplete) {
		return fault.Wrap(fault.Of(err), secrets.Error(err)) // what stands for a secret error has no class
	}
	var own *provider.Error
	if errors.As(err, &own) { // of a Provider behind a langchaingo model
		return own
	}
	e := &provider.Error{Provider: name, Model: p.cfg.Model,
		Message: secrets.Text(err.Error()), Err: secrets.Error(err)}
	if m := statusText.FindStringSubmatch(err.Error()); m != nil {
		e.Status, _ = strconv.Atoi(m[1] + m[2] + m[3])
	}
	e.Class = fault.Of(err)
	var coded *llms.Error
	if errors.As(err, &coded) {
		e.Code, e.Remedy = string(coded.Code), remedies[coded.Code]
		if class, ok := classes[coded.Code]; ok && e.Class == fault.Permanent {
			e.Class = class
		}
	}
	if class := fault.FromStatus(e.Status); e.Class == fault.Permanent && e.Status != 0 && class != fault.None {
		e.Class = class
	}
	adapter.Judge(e, &adapter.Failure{})
	if coded != nil && coded.Code == llms.ErrCodeTokenLimit && e.ContextLength == nil {
		e.ContextLength, e.Class, e.Remedy = &provider.ContextLength{}, fault.UserFixable, adapter.LengthRemedy
	}
	switch {
	case e.Status >= 300 && e.Status < 400:
		e.Class, e.Remedy = fault.UserFixable, "give the langchaingo model the address of the API itself: it redirects"
	case e.Class == fault.None: // canceled, but not by the call's own context
		e.Class = fault.Transient
	case e.Class == fault.UserFixable && e.Remedy == "":
		e.Remedy = remedies[llms.ErrCodeAuthentication]
	}
	return e
}

// codeOf returns langchaingo's code for an error of a Provider.
func codeOf(err error) llms.ErrorCode {
	var e *provider.Error
	known := errors.As(err, &e)
	switch class := fault.Of(err); class {
	case fault.None:
		return llms.ErrCodeCanceled
	case fault.RateLimited:
		return llms.ErrCodeRateLimit
	case fault.Degraded:
		return llms.ErrCodeProviderUnavailable
	case fault.UserFixable:
		if known && (e.Status == 402 || e.Status == 429 || e.Code == "insufficient_quota") {
			return llms.ErrCodeQuotaExceeded
		}
		return llms.ErrCodeAuthentication
	case fault.Transient:
		if errors.Is(err, context.DeadlineExceeded) {
			return llms.ErrCodeTimeout
		}
		return llms.ErrCodeProviderUnavailable
	case fault.NotFound:
		return llms.ErrCodeResourceNotFound
	case fault.Invalid, fault.Permanent:
		switch {
		case known && e.Status == 404:
			return llms.ErrCodeResourceNotFound
		case known && e.Status >= 400 && e.Status < 500:
			return llms.ErrCodeInvalidRequest
		}
	}
	return llms.ErrCodeUnknown
}
