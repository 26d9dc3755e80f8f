// Package wish reads what a writer's sentence wants: which intent it has, which artifact it is
// about, and the details, such as a title, a section or a number. It knows nothing but the words
// and the [Place] where they are said, and calls no model. The words are in words.json.
//
// A Wish is done only if its Why is empty. A sentence that forbids, asks, takes itself back,
// depends on something or tells what others say never is, nor is one that may be meant for another
// artifact: then Say answers it in words, and Options are buttons.
//
// [Reader.Read] corrects the spelling, finds one wish for each clause by the rules of words.json
// and what the sentence does with it (read.go), decides which of them is done (decide.go), and
// finds the artifact (names.go) and the details (slots.go). Answers are in say.go.
package wish
