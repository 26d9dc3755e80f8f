// Package humanity finds what makes a text sound like a machine: 24 patterns of words, punctuation
// and form. It uses no model, so the same text always has the same score.
//
//	before := humanity.Check(text)
//	after := humanity.Check(humanity.Revise(text))
//	fmt.Println(before.Score, after.Score, before.Found)
//
// A person may write like this, too: a score says how a text sounds, and not who wrote it.
package humanity
