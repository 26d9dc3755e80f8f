// Package memory keeps a conversation within a model's window, without breaking it.
//
// A [Compactor] prepares each request of a session: it counts tokens, shortens the conversation when necessary, and adds
// context that the model should see. The returned Messages are the conversation to continue with.
//
//	summarise, err := memory.NewSummarise(memory.Summary{Provider: cheap})
//	...
//	c, err := memory.New(memory.Config{
//		Window:  memory.WindowOf(info),
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
// Compaction works on groups: a message of the user, or a reply with the results of all its calls. A [Rule] says when to
// compact (a [Trigger]: a share of the window, tokens, messages, a finished subgoal, another phase) and with which pipeline
// of strategies:
//
//	DropSuperseded  drops results that a later identical call replaced
//	CutResults      cuts big results; the full text goes to the [Store], and [ReadBack] reads it
//	Subgoals        replaces finished subgoals by notes with their key facts
//	Summarise       replaces groups by a model's summary, with its own budget
//	Offload         moves the oldest groups to the Store
//	Importance, Relevance, Slide  drop the least important, the least relevant, the oldest groups
//
// Each step of a pipeline has a floor: a step that would free less is skipped, so that the provider's prompt cache stays
// valid. A [Strategy] only proposes changes; the Compactor applies them by rules that a strategy can't break. The first and
// the newest message of the user, the current step, open calls, the starts of open subgoals and the last five groups are
// kept. If even these don't fit, the longest texts among them are cut; only if that isn't enough is the result a
// [*ContextTooLargeError].
//
// Notes and cut texts are marked by opaque data of this package, which isn't sent to any provider. A compacted
// conversation can be stored in a journal and be compacted again. The caller must keep the original if it is needed; a
// [Report] with figures says what was done.
//
// # Counting
//
// A [Meter] counts each message of a growing conversation once. Counts of a provider correct it: [Meter.Learn] uses the
// usage of a reply, which costs nothing, and [Meter.Ask] calls [provider.CountTokens], if the provider supports it. Texts
// are counted by a tokenizer ([Estimator.Tokenize]; package memory/tokens/openai has OpenAI's), else estimated in one walk
// by runs of letters, digits, blanks, signs and scripts, with figures fitted on o200k and a factor by family. Against o200k
// the estimate is, on the samples of memory/tokens/openai:
//
//	English prose  4.96 characters a token   +10 %
//	German prose   5.00                       +3 %
//	Chinese        1.49                      +21 %
//	Go, JS, SQL    3.52                      +13 %
//	JSON           3.22                      +15 %
//
// The factors of other families are rounded up from what their providers document (see [NewEstimator]); what a provider
// adds around messages, calls and tools is 4, 12 and 16 tokens. Images, documents and sound are counted as providers
// document it; if their size can't be determined, as the largest.
//
// # Guarantees
//
// Arguments are never changed. The same conversation, configuration and answers of the summariser give the same result,
// and compacting the result again changes nothing. Failures of summaries, strategies and stores, including panics, are
// warnings, and the next strategy runs. There are no goroutines. A step without compaction costs only as much as its new
// messages.
package memory
