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
// microseconds. [Detector.Detect] makes no model call if the rules reach the band Act.
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
// is the only one.
//
// A model's verdict counts 0.6 and that of the rules 0.4 where both name an intent. If they agree,
// 0.1 is added. If only one names an intent, its confidence stays as it is.
package intent
