package adapter

import (
	"bufio"
	"errors"
	"io"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/sse"
)

// MostPiece is the largest event of an answer, and the largest answer that comes in one piece, in
// bytes. It leaves room for a picture in base64.
const MostPiece = 64 << 20

// Open returns a reader of the body of an answer, at its first byte that isn't white space or part
// of a byte order mark, and that byte. A body without one is provider.ErrIncomplete, and a web page
// a permanent error: something else than the API has answered.
func Open(name string, body io.Reader) (*bufio.Reader, byte, error) {
	br := bufio.NewReader(body)
	first, err := firstByte(br)
	if err != nil {
		return nil, 0, ended(name, err)
	}
	if first == '<' {
		return nil, 0, &provider.Error{Class: fault.Permanent, Provider: name, Status: 200,
			Message: "the server answered with a web page",
			Remedy:  "check the address (Config.BaseURL)"}
	}
	return br, first, nil
}

// Whole returns the rest of a body that comes in one piece.
func Whole(name string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MostPiece+1))
	switch {
	case err != nil:
		return nil, ended(name, err)
	case len(text) > MostPiece:
		return nil, TooLarge(name)
	}
	return text, nil
}

// TooLarge returns the error of an answer with a piece larger than MostPiece.
func TooLarge(name string) error {
	return fault.Errorf(fault.Permanent, "%s: the answer contains more than %d bytes in one piece", name, MostPiece)
}

// Events calls each with the events of a body, until it returns an error or false, or the body
// ends. It returns nil, the error of each, that of [TooLarge], or [Broken]'s.
func Events(name string, br *bufio.Reader, each func(sse.Event) (more bool, err error)) error {
	events := sse.NewReader(br, MostPiece)
	events.BareJSON = true // some servers report errors this way
	for {
		ev, err := events.Next()
		if err != nil {
			return eventsEnd(name, err)
		}
		if more, err := each(ev); err != nil || !more {
			return err
		}
	}
}

// eventsEnd returns the error of a body whose events have ended.
func eventsEnd(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return ended(name, err)
}

// ended returns the error of a body that ended before the answer did: that of [TooLarge], or
// [Broken]'s.
func ended(name string, err error) error {
	if errors.As(err, new(*sse.TooLargeError)) {
		return TooLarge(name)
	}
	return Broken(err)
}
