package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/pawlkit/pawl/agent/journal"
)

// A checkpoint is a state on the disk, so that a log needn't be read whole to know its head. It is written anew after each 256 KiB
// of log, or each 16 times its own size, and never synced: it is no more than a hint. It counts only if it names the log as it is now (a rewritten one has another
// id), and if the last change that it knows stands in the log where it says. Whatever came later is read from the log. So a crash,
// or somebody who removes it, costs one reading of the log.
type checkpoint struct {
	Log    string       `json:"log"`
	N      uint64       `json:"n"`
	Last   int64        `json:"last"`
	End    int64        `json:"end"`
	Head   journal.Head `json:"head"`
	Closed []string     `json:"closed,omitempty"`
	Inbox  []waiting    `json:"inbox,omitempty"`
	Marks  []mark       `json:"marks,omitempty"`
}

type waiting struct {
	ID   string `json:"id"`
	Off  int64  `json:"off"`
	Size int    `json:"size"`
}

const checkpointKey = `"checkpoint":1,"state":`

// save writes a checkpoint. If that fails there is none.
func (s *session) save() {
	c := checkpoint{Log: s.id, N: s.n, Last: s.last, End: s.end, Head: s.head, Marks: s.marks}
	for id, taken := range s.ids {
		if taken {
			c.Closed = append(c.Closed, id)
		}
	}
	for _, p := range s.inbox {
		c.Inbox = append(c.Inbox, waiting{p.id, p.off, p.len})
	}
	text, err := json.Marshal(c)
	if err != nil {
		return
	}
	b := append(begin(nil), checkpointKey...)
	b = finish(append(b, text...), 0)
	s.saved, s.size = s.end, int64(len(b)) // also if it fails: not again before the next one is due

	temp := s.stem + headExt + tempExt
	f, err := s.store.fs.Open(temp, true)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Truncate(0) != nil {
		return
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return
	}
	_ = s.store.fs.Rename(temp, s.stem+headExt)
}

// recall takes the state from the checkpoint of a log of this size, if there is a good one.
func (s *session) recall(size int64) bool {
	f, err := s.store.fs.Open(s.stem+headExt, false)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := content(f)
	if err != nil {
		return false
	}
	text, whole := bytes.CutSuffix(text, []byte("\n"))
	if !whole || !intact(text) {
		return false
	}
	text, known := bytes.CutPrefix(text[crcLen:len(text)-1], []byte(checkpointKey))
	var c checkpoint
	if !known || json.Unmarshal(text, &c) != nil {
		return false
	}
	if c.End > size || c.Head.Session != s.name || !s.fits(&c) {
		return false
	}
	s.state = state{id: c.Log, n: c.N, last: c.Last, end: c.End, head: c.Head, marks: c.Marks}
	for _, id := range c.Closed {
		s.close(id, true)
	}
	for _, w := range c.Inbox {
		s.close(w.ID, false)
		s.inbox = append(s.inbox, span{w.ID, w.Off, w.Size})
	}
	s.saved, s.size = c.End, int64(len(text))
	return true
}

// fits reports whether a checkpoint is of the log as it is: its id, and its last change.
func (s *session) fits(c *checkpoint) bool {
	var l line
	in := readLines(s.file, 0, c.End)
	text, _, whole, err := in.next()
	good := err == nil && whole && l.parse(text) == nil && l.op == opLog && l.format == format &&
		string(l.id) == c.Log && string(l.session) == s.name
	in.close()
	if !good {
		return false
	}
	in = readLines(s.file, c.Last, c.End)
	defer in.close()
	for {
		text, off, whole, err := in.next()
		if errors.Is(err, io.EOF) {
			return off == c.End && l.n == c.N && l.op != opRecord
		}
		if err != nil || !whole || l.parse(text) != nil || l.op != opLog && l.n != c.N {
			return false
		}
	}
}

// content returns all of a file.
func content(f handle) ([]byte, error) {
	size, _, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}
