package file

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// markEvery is how far apart the marks of a log are, in bytes.
const markEvery = 64 << 10

// A state is what the changes of a log come to, without the records.
type state struct {
	n     uint64 // number of the last change, 0 for none: then there is no session
	last  int64  // where its line begins
	end   int64  // where it ends, and the next one goes
	head  journal.Head
	ids   map[string]bool // every id posted or closed; true once taken
	inbox []journal.Item
	marks []mark
	began string // the first bytes of the log, once they are needed
}

// A mark says where a change begins, and after which record.
type mark struct {
	Seq uint64 `json:"seq"`
	Off int64  `json:"off"`
}

// A snapshot is a state as it is written to a checkpoint, and to the first line of a rewritten log.
type snapshot struct {
	Head  journal.Head `json:"head"`
	Taken []string     `json:"taken,omitempty"` // ids that were taken or closed
	Inbox []*item      `json:"inbox,omitempty"`
}

func (s *state) snapshot() *snapshot {
	snap := &snapshot{Head: s.head}
	for id, taken := range s.ids {
		if taken {
			snap.Taken = append(snap.Taken, id)
		}
	}
	for i := range s.inbox {
		snap.Inbox = append(snap.Inbox, newItem(&s.inbox[i]))
	}
	return snap
}

func (s *state) restore(snap *snapshot) {
	s.head, s.ids, s.inbox = snap.Head, nil, nil
	for _, id := range snap.Taken {
		s.setID(id, true)
	}
	for _, it := range snap.Inbox {
		s.setID(it.ID, false)
		s.inbox = append(s.inbox, it.decode())
	}
}

// apply adds a change whose line has size bytes. It returns an error if c can't follow the changes
// before it.
func (s *state) apply(c *change, size int64) error {
	switch {
	case c.N != s.n+1:
		return fmt.Errorf("it is change %d, after change %d", c.N, s.n)
	case c.State != nil && s.n > 0:
		return fmt.Errorf("only the first line can be a snapshot")
	case c.Append != nil && c.Append.After != s.head.Seq:
		return fmt.Errorf("it appends after record %d, the last one is %d", c.Append.After, s.head.Seq)
	}
	if len(s.marks) == 0 || s.end-s.marks[len(s.marks)-1].Off >= markEvery {
		s.marks = append(s.marks, mark{s.head.Seq, s.end})
	}
	began := s.n == 0
	s.n, s.last, s.end = c.N, s.end, s.end+size
	switch {
	case c.State != nil:
		s.restore(c.State)
	case c.Append != nil:
		s.applyAppend(c.Append)
		s.touch(c.At)
	case c.Lease != nil:
		s.head.Fence, s.head.Owner, s.head.Until = c.Lease.Fence, c.Lease.Owner, c.Lease.Until
		if began {
			s.touch(c.At)
		}
	case c.Release:
		s.released()
	case c.Post != nil:
		s.setID(c.Post.ID, false)
		for _, id := range c.Post.Closes {
			s.setID(id, true)
		}
		s.inbox = append(s.inbox, c.Post.decode())
	default:
		return errContent
	}
	s.head.Inbox = len(s.inbox)
	return nil
}

func (s *state) applyAppend(a *appended) {
	s.head.Seq += uint64(len(a.Records))
	if a.Head != nil {
		s.head.Set(a.Head)
	}
	for _, id := range a.Taken {
		s.setID(id, true)
	}
	if len(a.Taken) > 0 {
		s.inbox = slices.DeleteFunc(s.inbox, func(it journal.Item) bool { return s.ids[it.ID] })
	}
}

// touch moves Updated forward, never back.
func (s *state) touch(at time.Time) {
	if at.After(s.head.Updated) {
		s.head.Updated = at
	}
}

func (s *state) released() { s.head.Owner, s.head.Until = "", time.Time{} }

func (s *state) setID(id string, taken bool) {
	if s.ids == nil {
		s.ids = make(map[string]bool)
	}
	s.ids[id] = taken
}

// offset returns where to begin to read for the records after number seq.
func (s *state) offset(seq uint64) int64 {
	for _, m := range slices.Backward(s.marks) {
		if m.Seq <= seq {
			return m.Off
		}
	}
	return 0
}

// writable reports whether fence may append: it is the newest, and wasn't released.
func (s *state) writable(fence uint64) bool {
	return fence == s.head.Fence && (fence == 0 || s.head.Owner != "")
}

func (s *state) conflict(after, fence uint64) error {
	h := &s.head
	return &journal.ConflictError{
		Session: h.Session,
		After:   after, HaveSeq: h.Seq,
		Fence: fence, HaveFence: h.Fence,
		Owner: h.Owner, Until: h.Until,
	}
}

// copyHead returns the head as a caller may have it.
func (s *state) copyHead() journal.Head {
	h := s.head
	h.Open, h.Labels = slices.Clone(h.Open), maps.Clone(h.Labels)
	return h
}
