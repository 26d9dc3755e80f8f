package schema

import "strings"

// longestName is the length in bytes up to which names are compared by [Nearest].
const longestName = 64

// Nearest returns the name in known that word was probably meant to be: the same word in another
// case, or else the one with the fewest edits (insert, delete, replace, swap two neighbours), at
// most one for every three letters of word. Among equals the first wins. Words and names longer
// than 64 bytes have no neighbours.
func Nearest(word string, known []string) (string, bool) {
	if word == "" || len(word) > longestName {
		return "", false
	}
	letters := []rune(word)
	best, limit := "", len(letters)/3
	found := false
	for _, name := range known {
		if len(name) > longestName || name == "" {
			continue
		}
		if strings.EqualFold(name, word) {
			return name, true
		}
		if d := edits(letters, []rune(name)); d <= limit {
			best, limit, found = name, d-1, true
		}
	}
	return best, found
}

// edits is the optimal string alignment distance: Levenshtein's, with a swap of neighbours as one
// edit.
func edits(a, b []rune) int {
	var rows [3][longestName + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			d := min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
