package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"time"
)

// Fences of a session rise by one. That they still rise where a session was deleted and begins again is the business of one small
// file for all sessions: it holds the highest fence that any deleted one had, and a session's first fence is above that. A line is
// added only where that rises, so there are never more lines than the longest-lived session had leases.

// lastFence returns the highest fence that a deleted session had.
func (st *Store) lastFence() (uint64, error) {
	f, err := st.fs.Open(fencesName, false)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	last, _, err := readFences(f)
	return last, err
}

// passFence keeps that a fence was given out.
func (st *Store) passFence(fence uint64) (err error) {
	f, err := st.fs.Open(fencesName, true)
	if err != nil {
		return err
	}
	defer f.Close()
	// The wait is short: who holds this lock holds it for one line. A process stopped in there is waited for this long.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := lock(ctx, f); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Unlock()) }()
	last, end, err := readFences(f)
	if err != nil {
		return err
	}
	if fence > last {
		b := append(begin(nil), `"fence":`...)
		b = finish(strconv.AppendUint(b, fence, 10), 0)
		if err := f.Truncate(end); err != nil { // of what a crash has left
			return err
		}
		if _, err := f.WriteAt(b, end); err != nil {
			return errors.Join(err, f.Truncate(end))
		}
	}
	if err := f.Sync(); err != nil { // also of a line that another wrote, and died
		return errors.Join(err, f.Truncate(end))
	}
	return st.fs.Sync()
}

// readFences returns the highest fence, and where the whole lines end.
func readFences(f handle) (last uint64, end int64, err error) {
	size, _, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	in := readLines(f, 0, size)
	defer in.close()
	for bad := int64(-1); ; {
		text, off, whole, err := in.next()
		switch {
		case err == io.EOF:
			return last, end, nil
		case err != nil:
			return 0, 0, err
		}
		s := scanner{b: text, at: crcLen}
		if !whole || !intact(text) || !s.has(`"fence":`) {
			bad = off
			continue
		}
		if bad >= 0 {
			return 0, 0, &CorruptError{File: fencesName, Offset: bad, Problem: errChecksum.Error()}
		}
		last, end = max(last, s.uint()), off+int64(len(text))+1
	}
}
