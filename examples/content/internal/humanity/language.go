package humanity

import (
	"strings"
	"unicode"
)

const english = "English"

// common are frequent words of languages that aren't frequent words of the others.
var common = map[string]string{
	english: "the of and to is it that for was with you we they not but this have from are be at or by i my our " +
		"your his her had has which what when there who if would could about than them",
	"German": "der das und ist nicht ein eine einer einen mit für auf von zu den dem im wir ich sie sich auch aber " +
		"wie oder des bei hat noch nur durch ihr ihre dass zum zur",
	"French":     "le les et est une dans pour que qui pas sur avec ce il elle nous vous au du je sont mais ou cette",
	"Spanish":    "el los las y por con para una es del como su pero más este esta muy cuando hay son lo",
	"Italian":    "il che di per una non sono della gli nel anche più è ma questo questa come dei alla",
	"Dutch":      "het een van niet dat op met voor zijn aan ook maar wij ik je deze naar werd wordt",
	"Portuguese": "os não uma um com para mais como mas foi são ao dos das seu sua isso pela você",
}

// languages has the languages of each of these words.
var languages = func() map[string][]string {
	all := map[string][]string{}
	for name, words := range common {
		for w := range strings.FieldsSeq(words) {
			all[w] = append(all[w], name)
		}
	}
	return all
}()

// language returns the language of a text's words. A text that is too short to tell is English.
func language(all []string) string {
	n, foreign := map[string]int{}, 0
	for _, w := range all {
		for _, name := range languages[strings.ToLower(w)] {
			n[name]++
		}
		if r := []rune(w)[0]; r > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, r) {
			foreign++
		}
	}
	best := english
	for name, count := range n {
		if count > n[best] && count > 1 {
			best = name
		}
	}
	if 2*foreign > len(all) || best == english && len(all) >= 30 && 20*n[english] < len(all) {
		return "another language"
	}
	return best
}
