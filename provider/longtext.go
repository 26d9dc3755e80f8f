package provider

import "strings"

// A longText collects text that arrives in pieces, most of them short. Pieces are collected in near
// first, because each write to a strings.Builder writes a pointer, which costs a write barrier
// while the garbage collector marks.
type longText struct {
	far  strings.Builder
	near [200]byte // what far lacks
	used int       // of near
}

func (t *longText) add(s string) {
	if len(s) > len(t.near)-t.used {
		t.flush(len(s))
		if len(s) > len(t.near) {
			t.far.WriteString(s)
			return
		}
	}
	t.used += copy(t.near[t.used:], s)
}

// flush empties near into far, and has room for more bytes there.
func (t *longText) flush(more int) {
	if more += t.used; t.far.Cap()-t.far.Len() < more {
		// append alone would grow by a quarter, and copy five times as much
		t.far.Grow(max(more, t.far.Cap()))
	}
	t.far.Write(t.near[:t.used])
	t.used = 0
}

// text returns the text so far.
func (t *longText) text() string {
	t.flush(0)
	return t.far.String()
}
