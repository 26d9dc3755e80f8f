// Package lexicon finds out what sentences are about by the meanings of their words, whatever their
// order and their spelling, for programs whose users say one thing in more forms than the patterns
// of package intent can list. What a sentence does with it, such as to forbid it, says package
// intent.
//
//	l := lexicon.New(lexicon.Vocabulary{Verbs: "write",
//		Words: map[string]string{"write": "write|draft|schreib", "post": "post|blog post"}})
//	rules := lexicon.Rules("WRITE write post")
//	for _, c := range intent.Read(l.Correct("wriet a post")) {
//		if name, first, last, ok := rules.Find(l.Tokens(c.Words)); ok {
//			fmt.Println(name, c.Mood(first, last, ""))
//		}
//	}
package lexicon
