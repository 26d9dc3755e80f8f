package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// says words an error of a call for a session, with a fence and after a number.
func (f *fixture) says(session string, fence uint64, err error, after ...uint64) string {
	of, text := session, ""
	if err == nil {
		return ""
	}
	if errors.Is(err, journal.ErrNoSession) {
		text = "no session"
	} else if errors.Is(err, journal.ErrInbox) {
		text = "the inbox isn't empty"
	} else if _, ok := errors.AsType[*journal.InvalidError](err); ok {
		text = "invalid"
	} else if e, ok := errors.AsType[*journal.HeldError](err); ok {
		of, text = e.Session, "held by "+e.Owner+f.until(session, e.Until)
	} else if e, ok := errors.AsType[*journal.PostedError](err); ok {
		of, text = e.Session, map[bool]string{true: "taken ", false: "posted "}[e.Taken]+e.ID
	} else if e, ok := errors.AsType[*journal.PrunedError](err); ok {
		of, text = e.Session, fmt.Sprintf("pruned up to %d", e.UpTo)
		f.equal("what was to be read", e.After, after[0])
	} else if e, ok := errors.AsType[*journal.ConflictError](err); ok {
		of, text = e.Session, fmt.Sprintf("conflict at %d", e.HaveSeq)
		if len(after) == 0 {
			after = []uint64{e.HaveSeq}
		}
		f.equal("what was asked", [2]uint64{e.After, e.Fence}, [2]uint64{after[0], fence})
		if e.HaveFence > 0 {
			text += ", " + f.nameOf(session, e.HaveFence)
		}
		if e.Owner != "" {
			text += " of " + e.Owner + f.until(session, e.Until)
		}
		if e.Stale() {
			text += ", stale"
		}
	}
	if text == "" || of != session || journal.Unclear(err) {
		f.t.Fatalf("session %q: %v", session, err)
	}
	return text
}

// until is empty for the end of one of the session's leases.
func (f *fixture) until(session string, t time.Time) string {
	for _, l := range slices.Backward(f.leases) {
		if l.Session == session && l.Until.Equal(t) {
			return ""
		}
	}
	return " until " + t.String()
}

func (f *fixture) index(session string, fence uint64) int {
	return slices.IndexFunc(f.leases, func(l journal.Lease) bool { return l.Session == session && l.Fence == fence })
}

// nameOf returns the name of a fence.
func (f *fixture) nameOf(session string, fence uint64) string {
	if i := f.index(session, fence); i >= 0 {
		return fmt.Sprint("f", i+1)
	}
	return fmt.Sprint(fence)
}

// byName returns the lease with a fence.
func (f *fixture) byName(name string) journal.Lease {
	n := number(strings.TrimPrefix(name, "f"))
	if n < 1 || n > len(f.leases) {
		f.t.Fatalf("no lease has the fence %q", name)
	}
	return f.leases[n-1]
}

// fence returns the fence that a command names, or 0.
func (f *fixture) fence(c *command) uint64 {
	name, plus := c.options["fence"], 0
	if i := strings.IndexAny(name, "+-"); i > 0 {
		name, plus = name[:i], number(name[i:])
	}
	if !strings.HasPrefix(name, "f") {
		return uint64(number(name))
	}
	return f.byName(name).Fence + uint64(plus)
}

var atTime = regexp.MustCompile(`@(-?\d+)`)

// decode reads JSON in which @n stands for a time.
func (f *fixture) decode(object string, v any) {
	if object == "" {
		return
	}
	object = atTime.ReplaceAllStringFunc(object, func(at string) string {
		return strconv.Quote(recordTime.Add(time.Duration(number(at[1:]))).Format(time.RFC3339Nano))
	})
	if err := json.Unmarshal([]byte(object), v); err != nil {
		f.t.Fatalf("%s: %v", object, err)
	}
}

// span returns the ends of "1-3" or "2".
func span(s string) (from, to int, ok bool) {
	first, last, found := strings.Cut(s, "-")
	from, err := strconv.Atoi(first)
	if to = from; found {
		to = number(last)
	}
	return from, to, err == nil
}

// number returns the number in a script, and 0 for "". "max" is the largest number of a record: as
// a uint64 one less than [journal.All].
func number(s string) int {
	if s == "max" {
		return -2
	}
	n, _ := strconv.Atoi(s)
	return n
}

func duration(s string) time.Duration {
	d, _ := time.ParseDuration(s)
	return d
}
