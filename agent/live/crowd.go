package live

import (
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// Many readers of one session would wake for each piece of text that its model writes, and have
// most of the CPU. So they are woken a little later the more of them there are, and get the pieces
// that have come since as one.
const (
	// perReader is how much later readers are woken for each of them: 1,000 are woken at most
	// every 50 ms.
	perReader = 50 * time.Microsecond
	// crowd is how many readers a session has before they wait.
	crowd = 20
	// longestWait is the longest time that readers wait for a piece of text that is there.
	longestWait = 100 * time.Millisecond
)

// announce wakes the readers, now or soon. The caller holds mu.
func (t *topic) announce() {
	if t.readers <= crowd || !t.driven {
		t.moved.Broadcast()
		return
	}
	if t.waking {
		return
	}
	t.waking = true
	time.AfterFunc(min(time.Duration(t.readers)*perReader, longestWait), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.waking = false
		t.moved.Broadcast()
	})
}

// joined returns the first event, or a note that stands for it and those that follow it: pieces of
// the same text. n is how many events that is.
func joined(events []agent.Event) (first agent.Event, n int) {
	first, n = events[0], 1
	meta, index, text, ok := pieceOf(first)
	if !ok {
		return first, n
	}
	var whole strings.Builder
	for ; n < len(events); n++ {
		m, i, more, ok := pieceOf(events[n])
		if !ok || m != meta || i != index {
			break
		}
		if n == 1 {
			whole.WriteString(text)
		}
		whole.WriteString(more)
	}
	if n == 1 {
		return first, n
	}
	return &agent.TextDelta{NoteMeta: meta, Index: index, Text: whole.String()}, n
}

// pieceOf returns what a piece of text consists of.
func pieceOf(ev agent.Event) (meta agent.NoteMeta, index int, text string, ok bool) {
	d, ok := ev.(*agent.TextDelta)
	if !ok {
		return meta, 0, "", false
	}
	return d.NoteMeta, d.Index, d.Text, true
}
