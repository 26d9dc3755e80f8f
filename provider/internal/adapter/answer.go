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

// Over is the error of a call whose context is done: the cause. One that doesn't say its class is [fault.None] if somebody
// canceled, and [fault.Transient] if time ran out.
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

// Unreached is the class of a request that got no answer, by the context of nobody here: a cancellation is [fault.Transient].
func Unreached(err error) fault.Class {
	if class := fault.Of(err); class != fault.None {
		return class
	}
	return fault.Transient // a cancellation that isn't the caller's
}

// Broken is the error of a stream that ended with err, or just ended, before the answer did: a [provider.ErrIncomplete].
func Broken(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return provider.ErrIncomplete
	}
	class := fault.Of(err)
	if class == fault.Permanent || class == fault.None {
		class = fault.Transient // the connection, in words that fault doesn't know
	}
	return fault.Wrap(class, fmt.Errorf("%w: %w", provider.ErrIncomplete, err))
}

// Garbled is the error of an answer that can't be read, or a piece of one: what it is, and what reading it said, if anything.
func Garbled(name, what string, err error) error {
	if err == nil {
		return fault.Errorf(fault.Transient, "%s: the answer can't be read: %s", name, what)
	}
	return fault.Errorf(fault.Transient, "%s: the answer can't be read: %s: %w", name, what, err)
}

// FirstByte returns the first byte that is neither blank nor of a byte order mark, and leaves it unread.
func FirstByte(br *bufio.Reader) (byte, error) {
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
