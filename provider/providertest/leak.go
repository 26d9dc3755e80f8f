package providertest

import (
	"runtime"
	"strings"
	"time"
)

// goroutines returns the stacks of all goroutines by their id.
func goroutines() map[string]string {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	out := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		head, _, _ := strings.Cut(stack, " [")
		out[head] = stack
	}
	return out
}

// leaked waits until every goroutine that isn't among before has ended, and returns the stack of
// one that hasn't after the given time, or "".
func leaked(before map[string]string, settle time.Duration) string {
	deadline := time.NewTimer(settle)
	defer deadline.Stop()
	for wait := 50 * time.Microsecond; ; wait = min(2*wait, 50*time.Millisecond) {
		stack := ""
		for id, s := range goroutines() {
			if _, known := before[id]; !known && !idleHTTP(s) {
				stack = s
			}
		}
		if stack == "" {
			return ""
		}
		pause := time.NewTimer(wait)
		select {
		case <-deadline.C:
			pause.Stop()
			return stack
		case <-pause.C:
		}
	}
}

// idleHTTP reports a goroutine of net/http that belongs to a connection or a server, and not to the
// call. The reader of a client's connection is one of them only while it waits for nothing in
// particular; otherwise a call holds the connection.
func idleHTTP(stack string) bool {
	if strings.Contains(stack, "net/http.(*persistConn).readLoop(") {
		return strings.Contains(stack, "bufio.(*Reader).Peek(")
	}
	for _, f := range []string{"net/http.(*persistConn).writeLoop(", "net/http.(*conn).serve(",
		"net/http.(*connReader).backgroundRead(", "net/http.(*Server).Serve("} {
		if strings.Contains(stack, f) {
			return true
		}
	}
	return false
}
