package machine

import "strconv"

// callID names a call: by its run, its step and its place in the reply.
func CallID(run string, step, index int) string {
	var room [64]byte
	return string(appendCallID(room[:0], run, step, index))
}

// isCallID reports whether id is the name of that call.
func isCallID(id, run string, step, index int) bool {
	var room [64]byte
	return string(appendCallID(room[:0], run, step, index)) == id
}

func appendCallID(b []byte, run string, step, index int) []byte {
	b = append(append(b, run...), '.')
	b = append(strconv.AppendInt(b, int64(step), 10), '.')
	return strconv.AppendInt(b, int64(index), 10)
}
