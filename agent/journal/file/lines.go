package file

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// chunk is how much is read and written at once.
const chunk = 256 << 10

// buffers holds what lines are read into and written from. Large ones are let go.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func keepBuffer(b *[]byte) {
	if cap(*b) <= 4*chunk {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// lines walks over the lines of a file between two offsets. It must be closed.
type lines struct {
	f     handle
	limit int64 // nothing is read from here on
	off   int64 // where the next line begins
	buf   *[]byte
	at    int // where it begins in buf
}

func readLines(f handle, from, limit int64) *lines {
	buf := buffers.Get().(*[]byte)
	if need := int(min(chunk, limit-from)); cap(*buf) < need {
		*buf = make([]byte, 0, need)
	}
	return &lines{f: f, limit: limit, off: from, buf: buf}
}

func (l *lines) close() {
	keepBuffer(l.buf)
	l.buf = nil
}

// next returns a line without its break, which is valid until the next call, and where it begins. Whole is false for what stands
// at the end without a line break. At the end it returns io.EOF.
func (l *lines) next() (b []byte, off int64, whole bool, err error) {
	seen := l.at // up to here there is no break
	for {
		buf := *l.buf
		if i := bytes.IndexByte(buf[seen:], '\n'); i >= 0 {
			b, off = buf[l.at:seen+i], l.off
			l.at = seen + i + 1
			l.off += int64(len(b)) + 1
			return b, off, true, nil
		}
		seen = len(buf)
		more, err := l.fill(&seen)
		if err != nil {
			return nil, l.off, false, err
		}
		if !more {
			break
		}
	}
	b, off = (*l.buf)[l.at:], l.off
	if len(b) == 0 {
		return nil, off, false, io.EOF
	}
	l.at += len(b)
	l.off += int64(len(b))
	return b, off, false, nil
}

// fill reads on behind what is there. Where it moves that to the front, it moves seen along.
func (l *lines) fill(seen *int) (more bool, err error) {
	buf := *l.buf
	if l.at > 0 {
		n := copy(buf, buf[l.at:])
		*seen -= l.at
		buf, l.at = buf[:n], 0
	}
	from := l.off + int64(len(buf))
	if from >= l.limit {
		*l.buf = buf
		return false, nil
	}
	if len(buf) == cap(buf) {
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	}
	room := buf[len(buf):min(int64(cap(buf)), int64(len(buf))+l.limit-from)]
	n, err := l.f.ReadAt(room, from)
	*l.buf = buf[:len(buf)+n]
	if err != nil && !(errors.Is(err, io.EOF) && n > 0) {
		if errors.Is(err, io.EOF) {
			return false, nil // the file is shorter than it was
		}
		return false, err
	}
	return n > 0, nil
}
