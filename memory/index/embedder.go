package index

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An Embedder turns texts into vectors whose angles say how alike the texts are. It is safe for concurrent use.
type Embedder interface {
	// Model names what makes the vectors, its version included. Vectors of two names are never compared.
	Model() string
	// Dimensions is the length of each vector.
	Dimensions() int
	// Embed returns one vector for each text, in their order. The caller may keep and change them.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Local is an Embedder that needs no network and no model: it hashes words, the groups of three letters in them, their letters
// without order and their consonants. Typos,
// case, plurals, the order of words, umlauts and other marks matter little to it; words for the same thing that share no
// letters are unrelated, so put them into an item's aliases or text. The first line of a text counts twice as much as
// what follows, and of either 120 words count. The same text gives the same vector, bit for bit, on every machine. Its
// zero value is ready for use.
type Local struct {
	// Size is the dimensions of the vectors; 0: 512. Less than 32 is taken as 32, more than 8192 as 8192. Below 256, words
	// begin to be mistaken for others.
	Size int
}

// Model names the method and the dimensions.
func (l Local) Model() string { return "pawl-local-1/" + strconv.Itoa(l.Dimensions()) }

// Dimensions is Size within its range.
func (l Local) Dimensions() int {
	if l.Size == 0 {
		return 512
	}
	return min(max(l.Size, 32), 8192)
}

// Embed returns a vector of length 1 for each text; of one without words, a vector of zeros.
func (l Local) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out[i] = l.embed(text)
	}
	return out, nil
}

// Weights of features are whole numbers: their sums don't depend on the order, nor on a machine's way to add.
const (
	wordWeight   = 1000
	gramWeight   = 700 // of all n-grams of a word together, as the length of their vector
	letterWeight = 700 // of the letters without their order and number: swapped and doubled ones change nothing
	soundWeight  = 600 // of the consonants in their order: wrong vowels change nothing
	stopShare    = 8   // a word that says little weighs an eighth
)

func (l Local) embed(text string) []float32 {
	first, rest, _ := strings.Cut(text, "\n")
	features := make(map[uint64]int64)
	for _, w := range words(first, maxWords) {
		addWord(features, w, 2)
	}
	for _, w := range words(rest, maxWords) {
		addWord(features, w, 1)
	}
	sums := make([]int64, l.Dimensions())
	for h, weight := range features {
		if h>>63 == 1 {
			weight = -weight
		}
		sums[h%uint64(len(sums))] += weight
	}
	var square int64
	for _, s := range sums {
		square += s * s
	}
	v := make([]float32, len(sums))
	if square == 0 {
		return v
	}
	norm := math.Sqrt(float64(square))
	for i, s := range sums {
		v[i] = float32(float64(s) / norm)
	}
	return v
}

// addWord adds the features of a word; the heaviest mention of each counts.
func addWord(features map[uint64]int64, word string, times int64) {
	if stopWords[word] {
		keep(features, hash('w', word), times*wordWeight/stopShare)
		return
	}
	unit := int64(wordWeight)
	if sortWords[stem(word)] {
		unit /= 3
	}
	word = stem(word)
	runes := []rune(strings.ReplaceAll(word, "y", "i"))
	slices.Sort(runes)
	letters := string(slices.Compact(runes))
	consonants := strings.Map(func(r rune) rune {
		if strings.ContainsRune("aeiouyh", r) {
			return -1
		}
		return r
	}, word)
	runes = []rune("^" + word + "$")
	size, grams := 3, unit*gramWeight/wordWeight
	if slices.ContainsFunc(runes, withoutBlanks) { // what stands between signs is no word
		size, grams = 2, unit+grams
	}
	if size == 3 {
		keep(features, hash('w', word), times*unit)
		keep(features, hash('l', letters), times*unit*letterWeight/wordWeight)
		keep(features, hash('c', consonants), times*unit*soundWeight/wordWeight)
	}
	n := len(runes) - size + 1
	if n < 1 {
		return
	}
	each := times * grams * 100 / int64(math.Sqrt(float64(n))*100)
	for i := range n {
		keep(features, hash('g', string(runes[i:i+size])), each)
	}
}

// withoutBlanks says whether r is of a script that puts none between words.
func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func keep(features map[uint64]int64, h uint64, weight int64) {
	features[h] = max(features[h], weight)
}

// hash is FNV-1a of 64 bits, mixed once more (the finalizer of MurmurHash3) so that the highest bits and the remainder are
// independent.
func hash(kind byte, s string) uint64 {
	h := uint64(14695981039346656037)
	h = (h ^ uint64(kind)) * 1099511628211
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
