package langchain

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/httpguard"
	"github.com/pawlkit/pawl/stream"
)

// ErrUnsupported matches every [*UnsupportedError]. It wraps [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("langchain: %w", errors.ErrUnsupported)

// An UnsupportedError means that an operation isn't possible with langchaingo's interfaces, and
// names the missing part. The index is unchanged.
type UnsupportedError struct {
	Op      string // the operation: "delete"
	Missing string // the missing part: "Config.Delete"
}

// Error names the missing part.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("langchain: %s is unsupported: it needs %s", e.Op, e.Missing)
}

// Unwrap returns ErrUnsupported.
func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }

// Fault returns fault.Permanent.
func (e *UnsupportedError) Fault() fault.Class { return fault.Permanent }

// An Error is a failure of an embedder, a store, a ledger or a function of the host.
type Error struct {
	Op      string      // the part and its operation: "store: search"
	Class   fault.Class // never NotFound or None: a failed lookup doesn't mean that there is no entry
	Status  int         // HTTP status in the text of the error; else 0
	Message string      // the text of Err with redacted secrets, at most 500 bytes
	Err     error       // the original error, or one without secrets in its place that matches it by errors.Is
}

// Error returns the operation and the message.
func (e *Error) Error() string { return "langchain: " + e.Op + ": " + e.Message }

// Unwrap returns the original error.
func (e *Error) Unwrap() error { return e.Err }

// Fault returns Class.
func (e *Error) Fault() fault.Class { return e.Class }

// Remediation returns what a person can do about an error of class fault.UserFixable.
func (e *Error) Remediation() string {
	if said, ok := fault.Remedy(e.Err); ok {
		return said
	}
	switch {
	case e.redirects():
		return "give the langchaingo embedder or store the address of the API itself: it redirects"
	case e.Class == fault.UserFixable:
		return "give the langchaingo embedder or store a valid key and the necessary permissions"
	}
	return ""
}

func (e *Error) redirects() bool { return e.Status >= 300 && e.Status < 400 }

// An AnswerError describes an invalid answer of a store: missing or duplicate ids, or scores that
// are NaN. Documents of the change that are in the store already stay there, and are not found.
type AnswerError struct {
	Op      string
	Problem string
}

// Error says what is wrong with the answer.
func (e *AnswerError) Error() string { return "langchain: " + e.Op + ": " + e.Problem }

// Fault returns fault.Permanent.
func (e *AnswerError) Fault() fault.Class { return fault.Permanent }

// A LeftoverError means that a change was made, but that not all of its old documents could be
// deleted from the store. No search finds them; they use space until the host deletes them. In a
// store that gives a later document the same id, don't delete them once their items have been added
// again.
type LeftoverError struct {
	Documents []string // the store's ids of the remaining documents; some may have been deleted
	Err       error
}

// Error returns the number of remaining documents, and the reason.
func (e *LeftoverError) Error() string {
	return fmt.Sprintf("langchain: the change was made; %d old documents are hidden but not deleted: %s",
		len(e.Documents),
		strings.TrimPrefix(e.Err.Error(), "langchain: "))
}

// Unwrap returns the error of the deletion.
func (e *LeftoverError) Unwrap() error { return e.Err }

// A ShortError means that the nearest documents of a store, up to [Config].MaxFetch, contain fewer
// matching items than requested, and there may be more: the filter selects too few. Pass the filter
// to the store with Config.Filter, or raise MaxFetch.
type ShortError struct {
	Asked, Found int // items
	Looked       int // documents
}

// Error says what to do.
func (e *ShortError) Error() string {
	return fmt.Sprintf(
		"langchain: of the %d nearest documents only %d match instead of %d: pass the filter to the store "+
			"with Config.Filter, or raise Config.MaxFetch", e.Looked, e.Found, e.Asked)
}

// Fault returns fault.Permanent.
func (e *ShortError) Fault() fault.Class { return fault.Permanent }

// foreign calls foreign code, with a context that tells the secrets of its HTTP requests. It
// converts a panic to an error, and an error to an *Error, or the context's if that has ended.
func foreign(ctx context.Context, op string, call func(context.Context) error) (err error) {
	if ctx.Err() != nil {
		return fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
	}
	watched, secrets := httpguard.Watch(ctx)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("langchain: %s: %w", op, secrets.Error(stream.NewPanicError("the langchaingo side", v)))
		}
	}()
	err = call(watched)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
	}
	return failure(op, err, secrets)
}

// statusText matches a status in a message of langchaingo's clients.
var statusText = regexp.MustCompile(
	`(?i)\bstatus(?:[ _]code)?:?\s*\(?([1-5]\d\d)\b|\bError ([1-5]\d\d)\b|\bHTTP ([1-5]\d\d)\b`)

// codeText matches the beginning of langchaingo's own error type: a provider, and one of its codes.
var codeText = regexp.MustCompile(`(?:^|: )(authentication|quota_exceeded|rate_limit|timeout|provider_unavailable): `)

var codes = map[string]fault.Class{
	"authentication": fault.UserFixable, "quota_exceeded": fault.UserFixable, "rate_limit": fault.RateLimited,
	"timeout": fault.Transient, "provider_unavailable": fault.Degraded,
}

// failure converts an error of foreign code. The result contains no secret of its requests.
func failure(op string, err error, secrets *httpguard.Secrets) *Error {
	text := err.Error()
	e := &Error{Op: op, Class: fault.Of(err), Err: secrets.Error(err)}
	if m := statusText.FindStringSubmatch(text); m != nil {
		e.Status, _ = strconv.Atoi(m[1] + m[2] + m[3])
	}
	if e.Class == fault.Permanent {
		if m := codeText.FindStringSubmatch(text); m != nil {
			e.Class = codes[m[1]]
		} else if class := fault.FromStatus(e.Status); e.Status != 0 && class != fault.None {
			e.Class = class
		}
	}
	switch {
	case e.redirects():
		e.Class = fault.UserFixable
	case e.Class == fault.None: // canceled, but not by the call's own context
		e.Class = fault.Transient
	case e.Class == fault.NotFound: // a missing table or file doesn't mean that an item doesn't exist
		e.Class = fault.Permanent
	}
	e.Message = secrets.Text(strings.ToValidUTF8(text, "\uFFFD"))
	if cut := 500; len(e.Message) > cut {
		for !utf8.RuneStart(e.Message[cut]) {
			cut--
		}
		e.Message = e.Message[:cut] + "…"
	}
	return e
}

// given returns ctx, or context.Background if it is nil.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
