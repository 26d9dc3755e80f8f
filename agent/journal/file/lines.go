package file

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// chunk is how many bytes are read and written at once.
const chunk = 256 << 10

// A lineReader reads the lines of a file between two offsets.
type lineReader struct {
	buf  *bufio.Reader
	off  int64 // where the line that was read last begins
	next int64 // where the next one begins
}

func readLines(f handle, from, to int64) *lineReader {
	size := min(chunk, to-from)
	return &lineReader{buf: bufio.NewReaderSize(io.NewSectionReader(f, from, to-from), int(size)), next: from}
}

// line returns the next line with its line break. At the end it returns io.EOF, and for a damaged
// line its text with errPartial or errChecksum.
func (l *lineReader) line() ([]byte, error) {
	text, err := l.buf.ReadBytes('\n')
	l.off = l.next
	l.next += int64(len(text))
	switch {
	case errors.Is(err, io.EOF) && len(text) > 0:
		return text, errPartial
	case err != nil:
		return nil, err
	case !intact(text):
		return text, errChecksum
	}
	return text, nil
}

// change reads the next line into c.
func (l *lineReader) change(c *change) error {
	text, err := l.line()
	if err != nil {
		return err
	}
	return decodeLine(text, c)
}

// changes reads the changes between two offsets that were read before. It needs no lock: what is in
// a log never changes. Damage is a [*CorruptError].
func (s *session) changes(f handle, from, to int64) iter.Seq2[*change, error] {
	return func(yield func(*change, error) bool) {
		for in := readLines(f, from, to); in.next < to; {
			var c change
			err := in.change(&c)
			if errors.Is(err, io.EOF) {
				err = errShorter
			}
			if isDamage(err) {
				err = s.corrupt(in.off, err)
			}
			if !yield(&c, err) || err != nil {
				return
			}
		}
	}
}

// appends reads the changes that appended records after number after, without the records up to
// that number.
func (s *session) appends(f handle, after uint64, from, to int64) iter.Seq2[*change, error] {
	return func(yield func(*change, error) bool) {
		for c, err := range s.changes(f, from, to) {
			if err != nil {
				yield(nil, err)
				return
			}
			a := c.Append
			if a == nil || a.After+uint64(len(a.Records)) <= after {
				continue
			}
			if a.After < after {
				a.After, a.Records = after, a.Records[after-a.After:]
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
