package file

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// stride is how far apart the marks of a log are, in bytes.
const stride = 64 << 10

// A state is what the lines of a log come to, without the records. It is as good as the log up to end.
type state struct {
	id   string // of the log; another one when it was rewritten
	n    uint64 // of the last change, 0 for none: then there is no session
	last int64  // where that begins
	end  int64  // and where it ends
	head journal.Head
	ids  map[string]bool // every id posted or closed; true once taken
	// inbox says where the items stand in the log, oldest first.
	inbox []span
	// marks say where some changes begin, and after which record.
	marks []mark
}

type span struct {
	id  string
	off int64
	len int
}

type mark struct {
	Seq uint64 `json:"seq"`
	Off int64  `json:"off"`
}

// advance moves the end of the state over a change of so many bytes, before what it does is applied.
func (s *state) advance(size int64) {
	if len(s.marks) == 0 || s.end-s.marks[len(s.marks)-1].Off >= stride {
		s.marks = append(s.marks, mark{s.head.Seq, s.end})
	}
	s.last = s.end
	s.end += size
	s.n++
}

// from returns where to begin to read for the records after number seq.
func (s *state) from(seq uint64) int64 {
	i, _ := slices.BinarySearchFunc(s.marks, seq, func(m mark, seq uint64) int {
		if m.Seq <= seq {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return s.marks[i-1].Off
}

func (s *state) appended(records uint64, at int64, head *journal.HeadUpdate, taken []string) {
	s.head.Seq += records
	s.head.Updated = instant(at)
	if head != nil {
		s.head.Status, s.head.Open = head.Status, head.Open
	}
	if len(taken) == 0 {
		return
	}
	for _, id := range taken {
		s.close(id, true)
	}
	s.inbox = slices.DeleteFunc(s.inbox, func(p span) bool { return s.ids[p.id] })
	s.head.Inbox = len(s.inbox)
}

func (s *state) leased(fence uint64, owner string, until time.Time, began int64) {
	s.head.Fence, s.head.Owner, s.head.Until = fence, owner, until
	if began != 0 {
		s.head.Updated = instant(began)
	}
}

func (s *state) released() { s.head.Owner, s.head.Until = "", time.Time{} }

func (s *state) posted(id string, off int64, size int) {
	s.close(id, false)
	s.inbox = append(s.inbox, span{id, off, size})
	s.head.Inbox = len(s.inbox)
}

func (s *state) close(id string, taken bool) {
	if s.ids == nil {
		s.ids = make(map[string]bool)
	}
	s.ids[id] = taken
}

// A batch is the lines of one change, as far as they were read.
type batch struct {
	start   int64
	records uint64
}

// apply folds a line into the state. A record waits in b for the line that keeps it. Size is that of the line with its break.
func (s *state) apply(l *line, b *batch, off int64, size int) error {
	if l.n != s.n+1 {
		return fmt.Errorf("it has number %d, and %d comes next", l.n, s.n+1)
	}
	if l.op == opRecord {
		if want := s.head.Seq + b.records + 1; l.seq != want {
			return fmt.Errorf("it has record %d, and %d comes next", l.seq, want)
		}
		b.records++
		return nil
	}
	if l.op == opLog || b.records != l.records || l.op == opState && s.n != 0 {
		return fmt.Errorf("it doesn't follow from the lines before it")
	}
	s.advance(off + int64(size) - b.start)
	switch l.op {
	case opAppend:
		s.appended(l.records, l.at, l.head, l.ids)
	case opLease:
		s.leased(l.fence, string(l.owner), instant(l.until), l.at)
	case opRelease:
		s.released()
	case opPost:
		s.posted(string(l.item), off, size)
	case opState:
		s.head.Seq, s.head.Pruned = l.seq, l.seq
		s.leased(l.fence, string(l.owner), instant(l.until), l.at)
		if l.until == 0 {
			s.released()
		}
		if l.head != nil {
			s.head.Status, s.head.Open = l.head.Status, l.head.Open
		}
	case opClosed:
		for _, id := range l.ids {
			s.close(id, true)
		}
	}
	*b = batch{start: s.end}
	return nil
}
