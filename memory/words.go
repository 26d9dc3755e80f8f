package memory

import "unicode/utf8"

// words are the words of Latin letters of a stretch of text.
type words struct {
	n, milli int
	more     int // letters beyond the fourth of a word
	odd      int // letters of odd words
	listed   [len(languages)]int
}

// settle returns what the words cost in their language, and begins another stretch.
func (w *words) settle() int {
	milli, most := w.more*wordOther+w.odd*oddEach, 0
	for i, n := range w.listed {
		if n > most && n*oneIn >= w.n {
			milli, most = w.more*languages[i].each, n
		}
	}
	milli += w.milli
	*w = words{}
	return milli
}

// add adds the word that begins at i, and returns where it ends. A capital behind a small letter
// begins another word, as in names of code.
func (w *words) add(s string, i int) (end int) {
	n, accents, rare, capitals, seldom, vowels, consonants, row := 0, 0, 0, 0, 0, 0, 0, 0
	lower := false
	j := i
	for j < len(s) {
		c := s[j]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[j:])
			if !isLatin(r) {
				break
			}
			if isOtherMark(r) {
				w.milli += otherMark
				j += size
				continue
			}
			if r < 0x180 {
				accents++
			} else {
				rare++
			}
			lower, n, vowels, consonants = true, n+1, vowels+1, 0
			j += size
			continue
		}
		if kinds[c] != kindLetter {
			break
		}
		if c <= 'Z' {
			if lower {
				break
			}
			capitals++
		} else {
			lower = true
		}
		switch c | 0x20 {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			vowels++
			consonants = 0
		case 'j', 'q', 'x', 'z':
			seldom++
			fallthrough
		default:
			consonants++
			row = max(row, consonants)
		}
		n++
		j++
	}
	if n <= 8 {
		for _, at := range languageOf[s[i:j]] {
			w.listed[at]++
		}
	}
	w.n++
	w.more += min(max(n-wordFree, 0), longFrom-wordFree)
	w.milli += wordBase + max(n-longFrom, 0)*longEach + accents*accentEach + rare*rareEach +
		max(capitals-2, 0)*capitalEach
	if n <= longFrom && (row >= 4 || row >= 3 && seldom > 0 || n >= 4 && vowels*5 < n) {
		w.odd += n
	}
	return j
}
