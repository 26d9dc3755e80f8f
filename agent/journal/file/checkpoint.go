package file

import (
	"io"
	"math"
)

// checkpointEvery is how many bytes of log lie between two checkpoints, at least.
const checkpointEvery = 64 << 10

// A checkpoint is a state in a file of its own, so that the log needn't be read whole to know it.
// It is written again after each 64 KiB of log, or each 16 times its own size. It is never synced,
// and no more than a hint: it counts only if the log begins as it says (a rewritten one has another
// id) and has the last change where it says. Later changes are read from the log. A checkpoint that
// is lost costs one reading of the log.
type checkpoint struct {
	Format uint64    `json:"checkpoint"`
	Log    string    `json:"log"` // the first bytes of the log, with the checksum and the id
	N      uint64    `json:"n"`
	Last   int64     `json:"last"`
	End    int64     `json:"end"`
	State  *snapshot `json:"state"`
	Marks  []mark    `json:"marks,omitempty"`
}

func (s *session) checkpointDue() bool {
	return s.end-s.saved > max(s.store.every, 16*s.savedSize)
}

// saveCheckpoint writes a checkpoint. If that fails there is none.
func (s *session) saveCheckpoint() {
	c := checkpoint{Format: format, Log: s.beginning(), N: s.n, Last: s.last, End: s.end, State: s.snapshot(),
		Marks: s.marks}
	line, err := encodeLine(c)
	if err != nil {
		return
	}
	s.saved, s.savedSize = s.end, int64(len(line)) // also if it fails: not again before the next one is due

	temp := s.base + headExt + tempExt
	f, err := s.store.fs.Open(temp, true)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Truncate(0) != nil {
		return
	}
	if _, err := f.WriteAt(line, 0); err != nil {
		return
	}
	_ = s.store.fs.Rename(temp, s.base+headExt)
}

// loadCheckpoint takes the state from the checkpoint of a log of this size, and reports whether
// there is a good one.
func (s *session) loadCheckpoint(size int64) bool {
	f, err := s.store.fs.Open(s.base+headExt, false)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	var c checkpoint
	if err != nil || !intact(line) || decodeLine(line, &c) != nil || c.Format != format {
		return false
	}
	if c.State == nil || c.State.Head.Session != s.name || c.End > size || c.Log == "" || c.Log != s.beginning() {
		return false
	}
	var last change
	in := readLines(s.file, c.Last, c.End)
	if in.change(&last) != nil || last.N != c.N || in.next != c.End {
		return false
	}
	s.state = state{n: c.N, last: c.Last, end: c.End, marks: c.Marks}
	s.restore(c.State)
	s.saved, s.savedSize = c.End, int64(len(line))
	return true
}

// beginning returns the first bytes of the log, up to the id at least, and "" if they can't be
// read.
func (s *session) beginning() string {
	b := make([]byte, 64)
	if _, err := s.file.ReadAt(b, 0); err != nil {
		return ""
	}
	return string(b)
}
