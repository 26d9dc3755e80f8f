// Package humanity finds what makes a text sound like a machine: 24 patterns of words, form,
// repetition and rhythm. It uses no model, so the same text always gets the same report. Quotes and
// code aren't measured, other languages than English aren't either, and the quotes and dashes of
// word processors cost nothing.
//
//	before := humanity.Check(text)
//	after := humanity.Check(humanity.Revise(text))
//	fmt.Println(before.Summary, after.Summary, before.Found) // 3 of 24 patterns found, …
//
// A person may write like this, too: a report says how a text sounds, and not who wrote it.
package humanity
