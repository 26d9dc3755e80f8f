package machine

import (
	"strconv"
	"strings"
)

// CallID returns the id of a call: its run, its step (from 1), and its index among the calls of the
// reply (from 0). Providers repeat and omit ids, so the machine doesn't use theirs.
func CallID(run string, step, index int) string {
	return string(appendCallID(make([]byte, 0, 64), run, step, index))
}

// callIndex returns the index in an id that CallID has made, or -1.
func callIndex(id string) int {
	i, err := strconv.Atoi(id[strings.LastIndexByte(id, '.')+1:])
	if err != nil {
		return -1
	}
	return i
}

func appendCallID(b []byte, run string, step, index int) []byte {
	b = append(b, run...)
	b = strconv.AppendInt(append(b, '.'), int64(step), 10)
	return strconv.AppendInt(append(b, '.'), int64(index), 10)
}
