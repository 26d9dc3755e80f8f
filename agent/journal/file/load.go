package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pawlkit/pawl/agent/journal"
)

// refresh brings the state up to a file of this size. The lock is held, so that what isn't whole was left by a crash. It returns
// what it has cut, if anything.
func (s *session) refresh(size int64) (*Repair, error) {
	if size < s.end {
		return nil, s.corrupt(size, "the file has become shorter")
	}
	if size == s.end {
		return nil, nil
	}
	if s.end == 0 && !s.recall(size) {
		s.forget()
	}
	cut, err := s.fold(size)
	if err != nil {
		s.forget()
		return nil, err
	}
	if cut == nil {
		return nil, nil
	}
	if err := s.file.Truncate(cut.Offset); err != nil {
		s.forget()
		return nil, err
	}
	if s.end == 0 {
		s.forget()
	}
	return cut, nil
}

// fold applies the lines between the end of the state and size. What it returns instead of an error wants to be cut.
func (s *session) fold(size int64) (*Repair, error) {
	in := readLines(s.file, s.end, size)
	defer in.close()
	b := batch{start: s.end}
	headed := s.end > 0
	var l line
	for {
		text, off, whole, err := in.next()
		switch {
		case err == io.EOF && (b.records > 0 || headed && s.n == 0):
			return s.torn(size, "the change isn't whole"), nil
		case err == io.EOF:
			return nil, nil
		case err != nil:
			return nil, err
		}
		err = l.parse(text)
		switch damaged := !whole || errors.Is(err, errChecksum); {
		case damaged && !headed && !begun(text):
			return nil, s.corrupt(off, "a log doesn't begin like this")
		case !whole:
			return s.torn(size, "the line isn't whole"), nil
		case damaged:
			return s.judge(in, off, size)
		}
		if err == nil && !headed {
			headed = true
			err = s.heading(&l)
			if newer := (*FormatError)(nil); errors.As(err, &newer) {
				return nil, err
			}
		} else if err == nil {
			err = s.apply(&l, &b, off, len(text)+1)
		}
		if err != nil {
			return nil, s.corrupt(off, err.Error())
		}
	}
}

// begun reports whether a first line may be what is left of one that this package was writing, and so may be cut: it begins like one, or
// the disk has lost it and shows zeros.
func begun(text []byte) bool {
	n := min(len(text), len(crcOpen))
	return n > 0 && string(text[:n]) == crcOpen[:n] || bytes.IndexByte(text, 0) >= 0
}

// heading reads the first line of the log.
func (s *session) heading(l *line) error {
	switch {
	case l.op != opLog:
		return errors.New("a log doesn't begin like this")
	case l.format > format:
		return &FormatError{Session: s.name, File: s.stem + logExt, Format: l.format, Known: format}
	case l.format == 0:
		return errors.New("there is no format 0")
	case string(l.session) != s.name:
		return fmt.Errorf("it is the log of session %q", l.session)
	}
	s.id = string(l.id)
	return nil
}

// judge tells what a crash has left at the end from damage. The line at off is bad. If whatever is whole behind it belongs to
// the same change, that change was being written; if a later change is there, the bad one had been kept.
func (s *session) judge(in *lines, off, size int64) (*Repair, error) {
	for {
		text, _, whole, err := in.next()
		if err == io.EOF {
			return s.torn(size, errChecksum.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		if !whole || !intact(text) {
			continue
		}
		if n, ok := number(text); !ok || n != s.n+1 {
			return nil, s.corrupt(off, errChecksum.Error()+", and later changes follow")
		}
	}
}

func (s *session) torn(size int64, problem string) *Repair {
	return &Repair{Session: s.name, File: s.stem + logExt, Offset: s.end, Bytes: size - s.end, Problem: problem}
}

func (s *session) corrupt(off int64, problem string) error {
	return &CorruptError{Session: s.name, File: s.stem + logExt, Offset: off, Problem: problem}
}

// scan walks over the records after number after, and stops when do returns false. The log must be whole from there to end.
// It needs no lock, since what is kept never changes.
func scan(session, file string, f handle, from, end int64, do func(l *line) bool) error {
	in := readLines(f, from, end)
	defer in.close()
	var l line
	for {
		text, off, whole, err := in.next()
		switch {
		case err == io.EOF && off == end:
			return nil
		case err == io.EOF:
			return &CorruptError{Session: session, File: file, Offset: off, Problem: "the file has become shorter"}
		case err != nil:
			return err
		case !whole:
			err = errChecksum
		default:
			err = l.parse(text)
		}
		if err != nil {
			return &CorruptError{Session: session, File: file, Offset: off, Problem: err.Error()}
		}
		if l.op == opRecord && !do(&l) {
			return nil
		}
	}
}

// copyHead returns the head as a caller may have it.
func (s *state) copyHead() journal.Head {
	h := s.head
	h.Open = append([]journal.Open(nil), h.Open...)
	return h
}
