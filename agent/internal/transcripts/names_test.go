package transcripts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// ids matches what is made up at random, or from it: the ids of runs, of calls, which contain those
// of their runs, of pauses, and of items in an inbox.
var ids = regexp.MustCompile(`\b(r-[0-9a-f]{32}(\.\d+\.\d+)?|p-[0-9a-v]{24}|[dm]-[0-9a-f]{32})\b`)

// names gives ids names that are the same each time: r-1, c-1 and p-1 for the first run, call and
// pause that a script shows.
type names struct {
	mu    sync.Mutex
	named map[string]string
	real  map[string]string
	last  map[string]int
}

func newNames() *names {
	return &names{named: map[string]string{}, real: map[string]string{}, last: map[string]int{}}
}

// in returns s with names instead of ids.
func (n *names) in(s string) string {
	return ids.ReplaceAllStringFunc(s, n.of)
}

func (n *names) of(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := n.named[id]; ok {
		return name
	}
	kind := id[:2]
	if strings.Contains(id, ".") {
		kind = "c-"
	}
	n.last[kind]++
	name := kind + strconv.Itoa(n.last[kind])
	n.named[id], n.real[name] = name, id
	return name
}

// id returns the id with that name, or the name if it is none.
func (n *names) id(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.real[name]; ok {
		return id
	}
	return name
}

// quoted returns a text on one line, without what is long in it.
func (n *names) quoted(s string) string {
	const most = 90
	s = n.in(s)
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
