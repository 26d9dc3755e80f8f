package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// refresh brings the state up to a log of this size. The lock is held, so an incomplete change was
// left by a crash, unless it was acknowledged. It cuts that off, and returns what it has cut.
func (s *session) refresh(size int64) (*Repair, error) {
	if size < s.end {
		had := s.end
		s.end = size
		err := s.truncated(had)
		s.reset()
		return nil, err
	}
	if size == s.end && size > 0 {
		return nil, nil
	}
	if s.end == 0 && !s.loadCheckpoint(size) {
		s.reset()
	}
	cut, err := s.load(size)
	if err == nil {
		err = s.checkEnd()
	}
	if err == nil && cut != nil {
		err = s.file.Truncate(cut.Offset)
	}
	if err != nil {
		s.reset()
		return nil, err
	}
	return cut, nil
}

// load applies the changes between the end of the state and size. It returns what has to be cut
// from the log, if anything.
func (s *session) load(size int64) (*Repair, error) {
	for in := readLines(s.file, s.end, size); ; {
		text, err := in.line()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case isDamage(err):
			return s.judge(in, text, size, err)
		case err != nil:
			return nil, err
		}
		var c change
		if s.n == 0 {
			err = s.checkFormat(text)
		}
		if err == nil {
			err = decodeLine(text, &c)
		}
		if err == nil && s.n == 0 && c.Session != s.name {
			err = fmt.Errorf("it is the log of session %q", c.Session)
		}
		if err == nil {
			err = s.apply(&c, int64(len(text)))
		}
		if errors.As(err, new(*FormatError)) {
			return nil, err
		}
		if err != nil {
			return nil, s.corrupt(in.off, err)
		}
	}
}

// judge tells a change that was being written when its writer crashed, which has to be cut, from
// damage. Text is the first damaged line. If there is anything behind it, it had been complete.
func (s *session) judge(in *lineReader, text []byte, size int64, problem error) (*Repair, error) {
	switch {
	case in.off == 0 && !isOurs(text):
		return nil, s.corrupt(0, errNoLog)
	case in.next < size || endsWithLine(text):
		return nil, s.corrupt(in.off, fmt.Errorf("%w, and later changes follow", problem))
	}
	return s.cut(size, problem), nil
}

var errNoLog = errors.New("a log doesn't begin like this")

// checkFormat reads the format from the first line of a log, which other versions may write
// differently in all else.
func (s *session) checkFormat(text []byte) error {
	var first struct {
		Format uint64 `json:"log"`
	}
	if json.Unmarshal(text, &first) != nil || first.Format == 0 {
		return errNoLog
	}
	if first.Format != format {
		return &FormatError{Session: s.name, File: s.base + logExt, Format: first.Format, Known: format}
	}
	return nil
}

// isOurs reports whether a damaged first line may be what is left of one that this package was
// writing: it begins like one, or the disk has lost it and shows zeros.
func isOurs(text []byte) bool {
	n := min(len(text), len(crcOpen))
	return n > 0 && string(text[:n]) == crcOpen[:n] || bytes.IndexByte(text, 0) >= 0
}

// endsWithLine reports whether a damaged line ends with an intact one, because the line break
// between them is damaged.
func endsWithLine(text []byte) bool {
	for i := 1; ; i++ {
		next := bytes.Index(text[i:], []byte(crcOpen))
		if next < 0 {
			return false
		}
		if i += next; intact(text[i:]) {
			return true
		}
	}
}

func (s *session) cut(size int64, problem error) *Repair {
	return &Repair{Session: s.name, File: s.base + logExt, Offset: s.end, Bytes: size - s.end, Problem: problem.Error()}
}

func (s *session) corrupt(off int64, problem error) error {
	return &CorruptError{Session: s.name, File: s.base + logExt, Offset: off, Problem: problem.Error()}
}
