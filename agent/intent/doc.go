// Package intent finds out what a request wants before a run begins: by rules first, and by asking
// a model only if the rules aren't certain.
//
//	detector, err := intent.New(intent.Config{
//		Intents: []intent.Intent{
//			{Name: "write", Description: "write the article", Patterns: []intent.Pattern{
//				{Text: `write (?:the )?(?:article|post|content)`, Weight: 0.95},
//			}},
//			{Name: "status", Description: "say how far it is", Patterns: []intent.Pattern{
//				{Text: `progress`, Weight: 0.75},
//			}},
//		},
//		Model: agent.Generate,
//	})
//	…
//	verdict, err := detector.Detect(ctx, "Write the post, please")
//	switch verdict.Band() {
//	case intent.Act: …     // from 0.9
//	case intent.Confirm: … // from 0.7
//	case intent.Offer: …   // from 0.5
//	case intent.Ask: …
//	}
//
// [Detector.Match] is the part with the rules. It is a pure function of the text and takes
// microseconds, or a millisecond where a text has to be read in other words. [Detector.Detect]
// makes no model call if the rules reach the band Act. [Yes] reads the answer to a question whether
// to do something.
//
// [Tool] makes a tool of a Detector. A host calls it with Session.Call before it starts the run. If
// the verdict isn't in the band Act, the call is suspended: its pause has a question and the
// choices, and appears wherever pauses do. The answer is the verdict.
//
// # Confidence
//
// The confidence of an intent is that of its heaviest pattern in the text. A match that lies within
// a longer match of another intent doesn't count: "research ideas" isn't about "ideas". If several
// intents remain, none has more than 0.6, except that a weight of 1 makes an intent certain if it
// is the only one, and that the only one with a weight of 0.9 or more has at most 0.8.
//
// # What a sentence does with a match
//
// Patterns know words, and package intent knows, in English and German, what a sentence does with
// them. A match in a request reaches the band Act: "Publish it", "please publish it", "could you
// publish it?". A match has at most 0.6, and reaches the band Offer,
//
//   - after a negation, in German also before one: "don't publish it", "lösch die Seite nicht"
//   - in a question about the work: "what does publish do?", "how do I add images?"
//   - in a condition, in what somebody else says, and in what the person is going to do: "when you
//     publish it", "my boss said to publish it", "I'll publish it myself"
//   - if what follows takes it back: "publish it. Actually no, leave it."
//
// In all other sentences it has at most 0.85, and reaches the band Confirm: "publish it, but not
// today", "can you publish posts?". A negation or a question in a pattern itself doesn't count
// ("where are we", "without images"), nor one in quotation marks, nor the negations of polite
// requests ("can't you add an image?"). A pattern of weight 1 isn't lowered to 0.85.
//
// If no pattern with a weight of 0.9 or more matches, a text of up to 400 bytes is read again with
// the spelling of the patterns ("reserch"), with common words in place of synonyms ("throw it out"
// for "delete it"), and with the thing that was named last in place of a pronoun. A match found
// this way has at most 0.8. So patterns should name the most common verb, such as delete, create,
// change, write, publish, löschen, erstellen, ändern, schreiben or veröffentlichen.
//
// A host with rules of its own reads what a sentence does with [Read] and [Clause.Mood].
//
// # Models
//
// A model's verdict counts 0.6 and that of the rules 0.4 where both name an intent. If they agree,
// 0.1 is added. If only one names an intent, its confidence stays as it is.
package intent
