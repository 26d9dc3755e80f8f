package index

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An Embedder converts texts to vectors whose angles measure how similar the texts are. It is safe
// for concurrent use. [Local] needs no model. The Embedder methods of openai.Model and gemini.Model
// make some that call one.
type Embedder interface {
	// Model names the model and its version. Vectors of different models are never compared.
	Model() string
	// Dimensions is the length of each vector.
	Dimensions() int
	// Embed returns one vector for each text, in order. The caller may keep and change them.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Local is an Embedder without network and model: it hashes words, their groups of three letters,
// their letters without order, and their consonants. Typos, case, plurals, the order of words,
// umlauts and other accents change the vector little. Synonyms that share no letters are unrelated,
// so put them into an item's aliases or text. The first line of a text counts twice as much as the
// rest; 120 words of either count. The same text gives the same vector, bit for bit, on every
// machine. The zero value is ready for use.
type Local struct {
	// Size is the number of dimensions; 0: 512. Values below 32 become 32, above 8192 become 8192.
	// Below 256, different words get similar vectors.
	Size int
}

// Model names the method and the dimensions.
func (l Local) Model() string { return "pawl-local-1/" + strconv.Itoa(l.Dimensions()) }

// Dimensions returns Size, adjusted to its range.
func (l Local) Dimensions() int {
	if l.Size == 0 {
		return 512
	}
	return min(max(l.Size, 32), 8192)
}

// Embed returns a vector of length 1 for each text, or of zeros for a text without words.
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

// The weights of features are integers, so that their sums depend neither on the order nor on the
// machine.
const (
	wordWeight   = 1000
	gramWeight   = 700 // of all n-grams of a word together: the length of their vector
	letterWeight = 700 // of the set of letters: swapped and doubled letters don't change it
	soundWeight  = 600 // of the sequence of consonants: wrong vowels don't change it
	stopShare    = 8   // stop words have an eighth of the weight
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

// addWord adds the features of a word; the highest weight of each feature counts.
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
	if slices.ContainsFunc(runes, withoutBlanks) { // a script without spaces has no words
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

// withoutBlanks reports whether r belongs to a script without spaces between words.
func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func keep(features map[uint64]int64, h uint64, weight int64) {
	features[h] = max(features[h], weight)
}

// hash is FNV-1a of 64 bits, mixed once more (the finalizer of MurmurHash3) so that the highest
// bits and the remainder are independent.
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
