package file

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math"

	"github.com/pawlkit/pawl/agent/journal"
)

var (
	errChecksum = errors.New("the checksum doesn't fit the line")
	errForm     = errors.New("the checksum fits, but the line isn't of a form that this version writes")
)

// parse reads a line, without its line break. It returns errChecksum if these aren't the bytes that were written, and errForm if they
// are, but mean nothing here.
func (l *line) parse(b []byte) error {
	*l = line{}
	if !intact(b) {
		return errChecksum
	}
	s := scanner{b: b, at: crcLen}
	switch {
	case s.has(`"log":`):
		l.op = opLog
		l.format = s.uint()
		if l.format > format {
			return nil // the rest of the line is the newer version's business
		}
		s.must(`,"id":`)
		l.id = s.str()
		s.must(`,"session":`)
		l.session = s.str()
	case s.has(`"n":`):
		l.n = s.uint()
		if s.has(`,"seq":`) {
			l.op = opRecord
			l.record(&s)
		} else {
			s.must(`,"op":`)
			l.change(&s, s.str())
		}
	default:
		return errForm
	}
	s.must("}")
	if s.bad || s.at != len(b) {
		return errForm
	}
	return nil
}

// intact reports whether b has the checksum that it names.
func intact(b []byte) bool {
	if len(b) < crcLen || string(b[:len(crcOpen)]) != crcOpen || string(b[crcLen-len(crcClose):crcLen]) != crcClose {
		return false
	}
	var sum uint32
	for _, c := range b[len(crcOpen):][:8] {
		switch {
		case c >= '0' && c <= '9':
			sum = sum<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			sum = sum<<4 | uint32(c-'a'+10)
		default:
			return false
		}
	}
	return crc32.Checksum(b[crcLen:], castagnoli) == sum
}

func (l *line) record(s *scanner) {
	l.seq = s.uint()
	s.must(`,"fence":`)
	l.fence = s.uint()
	if l.timed = s.has(`,"time":`); l.timed {
		l.time = s.int()
	}
	s.must(`,"v":`)
	l.v = int(s.int())
	s.must(`,"kind":`)
	l.kind = s.str()
	l.rest(s)
}

// rest reads the data of a record or item, which is the last of its line.
func (l *line) rest(s *scanner) {
	switch end := len(s.b) - 1; {
	case s.has(`,"data":`) && s.at < end:
		l.data, s.at = s.b[s.at:end], end
	case s.has(`,"base64":`):
		l.data, l.encoded = s.str(), true
	}
}

func (l *line) change(s *scanner, name []byte) {
	switch string(name) {
	case "append":
		l.op = opAppend
		s.must(`,"records":`)
		l.records = s.uint()
		s.must(`,"at":`)
		l.at = s.int()
		l.head = s.head()
		l.ids = s.strs(`,"taken":[`)
	case "lease":
		l.op = opLease
		l.holder(s)
		if s.has(`,"began":`) {
			l.at = s.int()
		}
	case "release":
		l.op = opRelease
		s.must(`,"fence":`)
		l.fence = s.uint()
	case "post":
		l.op = opPost
		if l.timed = s.has(`,"time":`); l.timed {
			l.time = s.int()
		}
		s.must(`,"id":`)
		l.item = s.str()
		s.must(`,"kind":`)
		l.kind = s.str()
		l.rest(s)
	case "state":
		l.op = opState
		s.must(`,"seq":`)
		l.seq = s.uint()
		l.holder(s)
		s.must(`,"at":`)
		l.at = s.int()
		l.head = s.head()
	case "closed":
		l.op = opClosed
		l.ids = s.strs(`,"ids":[`)
	default:
		s.bad = true
	}
}

func (l *line) holder(s *scanner) {
	s.must(`,"fence":`)
	l.fence = s.uint()
	s.must(`,"owner":`)
	l.owner = s.str()
	s.must(`,"until":`)
	l.until = s.int()
}

// A scanner walks over a line. Once bad, it stays so.
type scanner struct {
	b   []byte
	at  int
	bad bool
}

// has skips want, if that is what comes next.
func (s *scanner) has(want string) bool {
	if len(s.b)-s.at < len(want) || string(s.b[s.at:s.at+len(want)]) != want {
		return false
	}
	s.at += len(want)
	return true
}

func (s *scanner) must(want string) {
	if !s.has(want) {
		s.bad = true
	}
}

func (s *scanner) uint() uint64 {
	var v uint64
	start := s.at
	for ; s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9'; s.at++ {
		if v > math.MaxUint64/10-1 {
			s.bad = true
		}
		v = v*10 + uint64(s.b[s.at]-'0')
	}
	if s.at == start {
		s.bad = true
	}
	return v
}

func (s *scanner) int() int64 {
	negative := s.has("-")
	v := s.uint()
	switch {
	case negative && v <= 1<<63:
		return -int64(v)
	case negative || v > math.MaxInt64:
		s.bad = true
	}
	return int64(v)
}

// str reads a string as [field] writes it.
func (s *scanner) str() []byte {
	s.must(`"`)
	start := s.at
	var unescaped []byte
	for ; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '"':
			tail := s.b[start:s.at]
			s.at++
			if unescaped == nil {
				return tail
			}
			return append(unescaped, tail...)
		case '\\':
			unescaped = append(unescaped, s.b[start:s.at]...)
			s.at++
			start = s.at // the escaped character stands for itself
			if s.at >= len(s.b) || s.b[s.at] != '"' && s.b[s.at] != '\\' {
				s.bad = true
				return nil
			}
		}
	}
	s.bad = true
	return nil
}

func (s *scanner) strs(key string) []string {
	if !s.has(key) {
		return nil
	}
	var out []string
	for !s.bad {
		out = append(out, string(s.str()))
		if s.has("]") {
			return out
		}
		s.must(",")
	}
	return nil
}

func (s *scanner) head() *journal.HeadUpdate {
	if !s.has(`,"head":{"status":`) {
		return nil
	}
	h := &journal.HeadUpdate{Status: string(s.str())}
	if s.has(`,"open":[`) {
		for !s.bad {
			var o journal.Open
			s.must(`{"id":`)
			o.ID = string(s.str())
			s.must(`,"kind":`)
			o.Kind = string(s.str())
			s.must(`,"title":`)
			o.Title = string(s.str())
			if s.has(`,"expires":`) {
				o.Expires = instant(s.int())
			}
			s.must("}")
			h.Open = append(h.Open, o)
			if s.has("]") {
				break
			}
			s.must(",")
		}
	}
	s.must("}")
	return h
}

// number returns the n of a line, and whether it has one, without looking at the rest.
func number(b []byte) (uint64, bool) {
	if !bytes.HasPrefix(b[crcLen:], []byte(`"n":`)) {
		return 0, false
	}
	s := scanner{b: b, at: crcLen + len(`"n":`)}
	n := s.uint()
	return n, !s.bad
}
