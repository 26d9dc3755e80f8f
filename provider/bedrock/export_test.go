package bedrock

import (
	"io"
	"strings"
)

// ReadFrame is readFrame: the string headers and the payload of a frame.
func ReadFrame(r io.Reader) (map[string]string, []byte, error) {
	f, err := readFrame(r)
	if err != nil {
		return nil, nil, err
	}
	return f.headers, f.payload, nil
}

// Converted is a body as the package anthropic reads it.
func Converted(body string, converse bool) (string, error) {
	write := (*events).invoked
	if converse {
		write = (*events).conversed
	}
	e := newEvents(io.NopCloser(strings.NewReader(body)), write)
	defer e.Close()
	out, err := io.ReadAll(e)
	return string(out), err
}

// The errors and limits of ReadFrame.
var ErrDamaged = errDamaged

const (
	MostFrame   = mostFrame
	MostHeaders = mostHeaders
)
