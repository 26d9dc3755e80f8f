// Package memory keeps a conversation within a model's window, without breaking it.
//
// A [Compactor] prepares each request of a session: it counts tokens, shortens the conversation
// when necessary, and adds context that the model should see. The returned Messages are the
// conversation to continue with.
//
//	summarise, err := memory.NewSummarise(memory.Summary{Provider: cheap})
//	...
//	c, err := memory.New(memory.Config{
//		Window:  memory.Window{Size: info.Window},
//		Counter: memory.NewEstimator(info),
//		Steps:   memory.DefaultSteps(summarise),
//		Store:   &memory.MapStore{},
//	})
//	...
//	p, err := c.Prepare(ctx, req, memory.Context{Screen: "page 42 is open"})
//	if err != nil {
//		return err // *ContextTooLargeError names the biggest parts
//	}
//	messages = p.Messages
//	res, err := provider.Generate(ctx, model, p.Request)
//	...
//	c.Meter().Learn(int(res.Usage.Input))
//
// An agent does all that by itself (agent.Config.Memory).
//
// # Compaction
//
// Compaction works on groups: a message of the user, or a reply with the results of all its calls.
// A [Rule] says when to compact (a [Trigger]: a share of the window, tokens, a finished subgoal,
// another phase) and with which pipeline of strategies:
//
//	DropSuperseded  drops results that a later identical call replaced
//	CutResults      cuts big results; the full text goes to the [Store], and [ReadBack] reads it
//	Subgoals        replaces finished subgoals by notes with their key facts
//	Summarise       replaces groups by a model's summary, with its own budget
//	Offload         moves the oldest groups to the Store
//	Importance, Relevance, Slide  drop the least important, the least relevant, the oldest groups
//
// Each step of a pipeline has a floor: a step that would free less is skipped, so that the
// provider's prompt cache stays valid. A [Strategy] only proposes changes; the Compactor applies
// them by rules that a strategy can't break. The first and the newest message of the user, the
// current step, open calls, the starts of open subgoals and the last five groups are kept (in a
// small window fewer than five: see [Config].Keep). With [Config.ResultShare], one tool result
// takes at most that share of the window: a larger one is cut when it comes in, with a handle to
// the whole. If even these don't fit, the longest texts among them are cut, also those of files
// whose type is a text's (text/plain, JSON, CSV). Then images and other files of the user's earlier
// messages are replaced by their names. Only if that isn't enough is the result a
// [*ContextTooLargeError].
//
// Notes and cut texts are marked by opaque data of this package, which isn't sent to any provider.
// A compacted conversation can be stored in a journal and be compacted again. The caller must keep
// the original if it is needed; a [Report] with figures says what was done.
//
// # Counting
//
// A [Meter] counts each message of a growing conversation once. Counts of a provider correct it:
// [Meter.Learn] uses the usage of a reply, which costs nothing, and [Meter.Ask] calls
// [provider.CountTokens], if the provider supports it. Texts are counted by a tokenizer
// ([Estimator.Tokenize]; package memory/tokens/tiktoken has OpenAI's), else estimated in one walk
// with figures by script, by language and by kind of text, fitted on o200k, and a factor by family.
// An estimate errs on the high side. As a share of the true count it is:
//
//	English, German, Chinese prose          1.17, 1.34, 1.35
//	code, JSON                              1.33, 1.27
//	40 languages, 10 of them not fitted on  1.07 to 1.57
//	12 more scripts                         1.05 to 1.50
//	base64, tables, URLs                    0.96 to 1.38
//	white space, newlines with tabs         0.96 to 1.68
//	random letters, punctuation, digits     0.99 to 1.37
//
// A language that few vocabularies know, with letters of its own, can be below: the lowest of 520
// translations of the Universal Declaration is Shan with 0.51. At 0.8 to 0.95 are many languages of
// Africa and America with few speakers.
//
// Bytes divided by one factor can't be an estimate of a first request, before a provider has
// counted anything: texts have 1 to 16 bytes a token, and more if they are white space. Without the
// lists of frequent words of eight languages the estimates would stay within the same bounds, but
// English (of the Declaration) would count as 1.61, Dutch as 1.62 and Spanish as 1.59 of what it
// is, instead of 1.18, 1.24 and 1.36, and long prompts in these would be compacted early. The lists
// take 3 of 8 ms a megabyte.
//
// The factors of other families are rounded up from what their providers document (see
// [NewEstimator]); what a provider adds around messages, calls and tools is 4, 12 and 16 tokens.
// Images, documents and sound are counted as providers document it; if their size can't be
// determined, as the largest.
//
// # Guarantees
//
// Arguments are never changed. The same conversation, configuration and answers of the summariser
// give the same result, and compacting the result again changes nothing. Failures of summaries,
// strategies and stores, including panics, are warnings, and the next strategy runs. There are no
// goroutines. A step without compaction costs only as much as its new messages.
package memory
