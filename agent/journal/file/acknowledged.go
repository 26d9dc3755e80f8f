package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
)

// A measure says how long a log was when its last change was acknowledged. It is in a file of its
// own, which is overwritten after each change and never synced. It is written after the log was,
// and, under [Power], after the log was synced. So what a crash has left incomplete is behind the
// measured length, and a log that is shorter than that has lost changes that were acknowledged.
//
// It is no more than a hint: without it, or if it is damaged or of another log, any end of a log is
// accepted.
type measure struct {
	Log string `json:"of"`  // the first bytes of the log, as in a checkpoint
	End string `json:"end"` // in bytes, with leading zeros: all measures of a log have one length
}

// acknowledge writes the measure of the log. If that fails, the measure is the one before, or none.
func (s *session) acknowledge() {
	if s.measured == s.end && s.end > 0 {
		return
	}
	if s.began == "" && s.n > 0 {
		s.began = s.beginning()
	}
	line, err := encodeLine(measure{Log: s.began, End: fmt.Sprintf("%019d", s.end)})
	if err != nil {
		return
	}
	if s.ends == nil {
		if s.ends, err = s.store.fs.Open(s.base+endExt, true); err != nil {
			s.ends = nil
			return
		}
	}
	if _, err := s.ends.WriteAt(line, 0); err == nil {
		s.measured = s.end
	}
}

// measureOf returns what the measure of a log says: the first bytes of the log, and its length. It
// returns zero values if there is none.
func (st *Store) measureOf(base string) (log string, end int64, err error) {
	const most = 1000 // bytes; a measure has about 150
	f, err := st.fs.Open(base+endExt, false)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, most))
	if err != nil {
		return "", 0, err
	}
	line := text[:bytes.IndexByte(text, '\n')+1]
	var m measure
	if !intact(line) || decodeLine(line, &m) != nil {
		return "", 0, nil
	}
	if end, err = strconv.ParseInt(m.End, 10, 64); err != nil {
		return "", 0, nil
	}
	return m.Log, end, nil
}

// checkEnd returns a [*CorruptError] if changes are missing at the end of the log that were
// acknowledged. A log without an intact first line is taken for the one that was measured.
func (s *session) checkEnd() error {
	log, had, err := s.store.measureOf(s.base)
	if err != nil || had <= s.end || s.n > 0 && log != s.beginning() {
		return err
	}
	s.measured = had
	return s.truncated(had)
}

// truncated is the error for a log that ends before what was acknowledged.
func (s *session) truncated(had int64) error {
	return &CorruptError{Session: s.name, File: s.base + logExt, Offset: s.end, Missing: had - s.end,
		Problem: fmt.Sprintf("it ends here, and %d bytes that were acknowledged are gone", had-s.end)}
}
