package process

// words mark lines that are kept when the middle of an output is left out. They are in lower case,
// by their first letter.
var words = [256][]string{
	'd': {"denied"},
	'e': {"error", "exception"},
	'f': {"fail", "fatal"},
	'n': {"not found"},
	'p': {"panic"},
	'w': {"warn"},
}

// important reports whether a line looks important: it mentions an error, a failure or a warning, a
// position in a file (name.ext:12:3), or is a line of a stack trace (" at main (app.js)").
func important(line []byte) bool {
	for i, b := range line {
		if !telling[b] {
			continue
		}
		if b == ':' {
			if place(line, i) {
				return true
			}
			continue
		}
		for _, w := range words[b|0x20] {
			if i+len(w) <= len(line) && line[i+1]|0x20 == w[1] && has(line[i:], w) {
				return true
			}
		}
	}
	return frame(line)
}

// telling are the bytes with which a sign of importance can begin.
var telling = func() (t [256]bool) {
	t[':'] = true
	for b, w := range words {
		if w != nil {
			t[b], t[b-'a'+'A'] = true, true
		}
	}
	return t
}()

// has reports whether s starts with the lower-case word w, ignoring case. s must be long enough.
func has(s []byte, w string) bool {
	for i := range len(w) {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != w[i] {
			return false
		}
	}
	return true
}

// place reports whether the colon at i is between a file name and a line number that is followed by
// a column.
func place(line []byte, i int) bool {
	j := i
	for j > 0 && wordByte(line[j-1]) {
		j--
	}
	if j == i || j < 2 || line[j-1] != '.' || !wordByte(line[j-2]) {
		return false
	}
	k := digits(line, i+1)
	return k > i+1 && k < len(line) && line[k] == ':' && digits(line, k+1) > k+1
}

// digits returns the end of the digits that start at i.
func digits(line []byte, i int) int {
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	return i
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// frame reports whether a line is indented and starts with "at".
func frame(line []byte) bool {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	rest := line[i:]
	return i > 0 && len(rest) > 2 && rest[0] == 'a' && rest[1] == 't' && (rest[2] == ' ' || rest[2] == '\t')
}
