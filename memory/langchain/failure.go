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
	"github.com/pawlkit/pawl/stream"
)

// ErrUnsupported is what every [*UnsupportedError] is. It is an [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("langchain: %w", errors.ErrUnsupported)

// An UnsupportedError says that something can't be done with what langchaingo's interfaces offer, and what is missing for it. What
// searches find hasn't changed.
type UnsupportedError struct {
	Op      string // what was asked: "delete"
	Missing string // what it takes: "Config.Delete"
}

// Error names what is missing.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("langchain: %s is unsupported: it takes %s", e.Op, e.Missing)
}

// Unwrap is always ErrUnsupported.
func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }

// Fault is always fault.Permanent.
func (e *UnsupportedError) Fault() fault.Class { return fault.Permanent }

// An Error is a failure of an embedder, a store, a ledger or a function that the host gave.
type Error struct {
	Op      string      // what was asked of which: "store: search"
	Class   fault.Class // never NotFound and never None: a failed look-up isn't the answer that there is nothing
	Status  int         // of HTTP, where the text of the error shows one; else 0
	Message string      // the text of Err without the secrets that can be told, at most 500 bytes
	Err     error       // as it came
}

// Error is what was asked, and the message.
func (e *Error) Error() string { return "langchain: " + e.Op + ": " + e.Message }

// Unwrap is the error as it came.
func (e *Error) Unwrap() error { return e.Err }

// Fault is Class.
func (e *Error) Fault() fault.Class { return e.Class }

// Remediation says what a person can do about an error of class fault.UserFixable.
func (e *Error) Remediation() string {
	if said, ok := fault.Remedy(e.Err); ok {
		return said
	}
	if e.Class == fault.UserFixable {
		return "give the langchaingo embedder or store a valid key and the rights it needs"
	}
	return ""
}

// An AnswerError says that a store's answer can't be true: ids that are missing or stand twice, scores that are none. What of a
// change is in the store by then stays there, and is not found.
type AnswerError struct {
	Op      string
	Problem string
}

// Error says what is wrong with the answer.
func (e *AnswerError) Error() string { return "langchain: " + e.Op + ": " + e.Problem }

// Fault is always fault.Permanent.
func (e *AnswerError) Fault() fault.Class { return fault.Permanent }

// A LeftoverError says that a change was made, but not all documents that it left could be deleted from the store. No search finds
// them. The ledger keeps their ids; the next change and [Index.Tidy] try again.
type LeftoverError struct {
	Documents int // how many are left
	Err       error
}

// Error says how many are left, and why.
func (e *LeftoverError) Error() string {
	return fmt.Sprintf("langchain: the change is made; %d documents that it left are hidden but not deleted: %s", e.Documents,
		strings.TrimPrefix(e.Err.Error(), "langchain: "))
}

// Unwrap is why they couldn't be deleted.
func (e *LeftoverError) Unwrap() error { return e.Err }

// A ShortError says that a store's nearest documents, up to [Config].MaxFetch, hold fewer of what was asked for than there may be
// behind them: the filter lets too few through. Give the filter to the store with Config.Filter, or raise MaxFetch.
type ShortError struct {
	Asked, Found int // items
	Looked       int // documents
}

// Error says what to do.
func (e *ShortError) Error() string {
	return fmt.Sprintf("langchain: of the %d nearest documents %d are what was asked for, not %d: give the filter to the store "+
		"with Config.Filter, or raise Config.MaxFetch", e.Looked, e.Found, e.Asked)
}

// Fault is always fault.Permanent.
func (e *ShortError) Fault() fault.Class { return fault.Permanent }

// foreign calls code that isn't ours. Its panic is contained, its error becomes an *Error, or the context's if that has ended.
func foreign(ctx context.Context, op string, call func() error) (err error) {
	if ctx.Err() != nil {
		return fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("langchain: %s: %w", op, stream.NewPanicError("the langchaingo side", v))
		}
	}()
	err = call()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
	}
	return failure(op, err)
}

// statusText is how langchaingo's clients write a status into a message.
var statusText = regexp.MustCompile(`(?i)\bstatus(?:[ _]code)?:?\s*\(?([1-5]\d\d)\b|\bError ([1-5]\d\d)\b|\bHTTP ([1-5]\d\d)\b`)

// codeText is how langchaingo's own error type begins: with a provider, and one of its codes.
var codeText = regexp.MustCompile(`(?:^|: )(authentication|quota_exceeded|rate_limit|timeout|provider_unavailable): `)

var codes = map[string]fault.Class{
	"authentication": fault.UserFixable, "quota_exceeded": fault.UserFixable, "rate_limit": fault.RateLimited,
	"timeout": fault.Transient, "provider_unavailable": fault.Degraded,
}

// secretText is what may be secret in a message: a key or a password in an address, and what follows "Bearer".
var secretText = regexp.MustCompile(`(?i)([?&](?:key|api_key|api-key|token|access_token|password)=|\bbearer |://[^/\s:@]*:)[^&\s"'@]+`)

func failure(op string, err error) *Error {
	text := err.Error()
	e := &Error{Op: op, Class: fault.Of(err), Err: err}
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
	switch e.Class {
	case fault.None: // canceled by somebody else: the call's own context hasn't ended
		e.Class = fault.Transient
	case fault.NotFound: // a table or a file that isn't there is not the answer that an item isn't
		e.Class = fault.Permanent
	}
	e.Message = secretText.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "${1}[redacted]")
	if cut := 500; len(e.Message) > cut {
		for !utf8.RuneStart(e.Message[cut]) {
			cut--
		}
		e.Message = e.Message[:cut] + "…"
	}
	return e
}

// given is ctx, or one that never ends in the place of none.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
