package adapter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// Over returns the error of a call whose context is done: the cause. A cause without a class gets
// [fault.None] after a cancellation, and [fault.Transient] after a deadline.
func Over(ctx context.Context) error {
	cause := context.Cause(ctx)
	var classed interface{ Fault() fault.Class }
	switch {
	case errors.As(cause, &classed) || fault.Of(cause) != fault.Permanent:
		return cause
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.None, cause)
	}
	return fault.Wrap(fault.Transient, cause)
}

// Unreached returns the class of the error of a request without an answer. A cancellation is
// [fault.Transient]: it isn't the caller's.
func Unreached(err error) fault.Class {
	if class := fault.Of(err); class != fault.None {
		return class
	}
	return fault.Transient // a cancellation, but not by the caller
}

// Broken returns the error of a stream that ended, with err or without, before the answer did: a
// [provider.ErrIncomplete].
func Broken(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return provider.ErrIncomplete
	}
	class := fault.Of(err)
	if class == fault.Permanent || class == fault.None {
		class = fault.Transient // an error of the connection that fault doesn't know
	}
	return fault.Wrap(class, fmt.Errorf("%w: %w", provider.ErrIncomplete, err))
}

// NoCalls returns the error of an answer that ends with a reason that announces calls, and has
// none: it says what the model is about to do, so that it mustn't count as done.
func NoCalls(reason string) *provider.Error {
	return &provider.Error{Class: fault.Degraded, Status: 200, Code: reason,
		Message: "the answer announces tool calls and has none"}
}

// Garbled returns the error of an answer, or a part of it, that can't be decoded: what it is, and
// the decoding error, if there is one.
func Garbled(name, what string, err error) error {
	if err == nil {
		return fault.Errorf(fault.Transient, "%s: the answer can't be read: %s", name, what)
	}
	return fault.Errorf(fault.Transient, "%s: the answer can't be read: %s: %w", name, what, err)
}

// firstByte returns the first byte that is neither white space nor part of a byte order mark,
// without consuming it.
func firstByte(br *bufio.Reader) (byte, error) {
	for {
		b, err := br.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			continue
		}
		return b, br.UnreadByte()
	}
}
