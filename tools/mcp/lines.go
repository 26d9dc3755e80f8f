package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pawlkit/pawl/circuit/fault"
)

// byteOrderMark is what some programs write first.
var byteOrderMark = []byte("\xef\xbb\xbf")

// messageLines reads the standard output of a server without the lines that aren't messages. They
// mustn't be there, but servers have them: what an installer prints, lines of a log, color codes.
// The SDK ends the connection with the first.
type messageLines struct {
	from *bufio.Reader
	cfg  *Config

	line  []byte // as far as it has arrived
	ready []byte // to be read
	told  bool   // that there was a line that isn't a message
}

func newLines(from io.Reader, cfg *Config) io.ReadCloser {
	return io.NopCloser(&messageLines{from: bufio.NewReader(from), cfg: cfg})
}

// Read reads messages, each as one line.
func (l *messageLines) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		piece, err := l.from.ReadSlice('\n')
		l.line = append(l.line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(l.line) <= maxReply:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return 0, fault.Errorf(fault.Permanent, "mcp: the server has written a line of more than %d bytes", maxReply)
		case err != nil && !(errors.Is(err, io.EOF) && len(l.line) > 0):
			return 0, err
		}
		line := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(l.line), byteOrderMark))
		switch {
		case isMessage(line):
			l.ready = append(line, '\n')
		case len(line) > 0 && !l.told:
			l.told = true
			l.cfg.Logger.Warn("mcp: the server writes lines to its standard output that aren't messages; they are skipped",
				"server", l.cfg.Name, "first", string(line[:min(len(line), 200)]))
		}
		l.line = nil // one may be large
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// isMessage reports whether a line is a message, or several in a list, as older versions of the
// protocol allow.
func isMessage(line []byte) bool {
	if len(line) > 0 && line[0] == '[' {
		var all []json.RawMessage
		if json.Unmarshal(line, &all) != nil || len(all) == 0 {
			return false
		}
		for _, one := range all {
			if !isMessage(one) {
				return false
			}
		}
		return true
	}
	_, err := jsonrpc.DecodeMessage(line)
	return err == nil
}
