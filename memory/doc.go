// Package memory keeps a conversation within a model's window, without breaking it.
//
// A [Compactor] prepares each request of a session: it counts it, makes the conversation shorter when that is due, and puts
// in what else the model should see. What it returns as Messages is the conversation to continue with.
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
// It works on groups: a message of the user, or a reply with the results of all its calls. A [Rule] says when (a [Trigger]: a
// share of the window, tokens, messages, a finished subgoal, another phase) and with which pipeline of strategies:
//
//	DropSuperseded  results that a later call of the same made old
//	CutResults      big results; the whole goes to the [Store], and [ReadBack] reads it
//	Subgoals        finished subgoals become notes with their key facts
//	Summarise       a model's summary, with a budget of its own
//	Offload         the oldest groups go to the Store
//	Importance, Relevance, Slide  drop the least important, the least relevant, the oldest groups
//
// Each step of a pipeline has a floor: what frees less isn't done, so that the provider's prompt cache stays good. A [Strategy]
// only proposes; what it proposes is applied by rules that it can't break. The first and the newest message of the user,
// the step under way, open calls, the beginnings of open subgoals and the last five groups stay. Where even that doesn't fit,
// the longest texts among it are cut, before anything is given up with a [*ContextTooLargeError].
//
// Notes and cut texts are marked by opaque data of this package, which is sent to no provider. A conversation that was
// compacted can go through a journal and be compacted again. The original is the caller's to keep: a [Report] with figures
// says what was done.
//
// # Counting
//
// A [Meter] counts each message of a growing conversation once. What a provider counted corrects it: [Meter.Learn] takes the
// usage of a reply, which costs nothing, [Meter.Ask] calls [provider.CountTokens], where there is one. Texts are counted by a
// tokenizer ([Estimator.Tokenize]; package memory/tokens/openai has OpenAI's), else estimated in one walk by runs of
// letters, digits, blanks, signs and scripts, with figures fitted on o200k and a factor by family. Against o200k the
// estimate is, on the samples of memory/tokens/openai:
//
//	English prose  4.96 characters a token   +10 %
//	German prose   5.00                       +3 %
//	Chinese        1.49                      +21 %
//	Go, JS, SQL    3.52                      +13 %
//	JSON           3.22                      +15 %
//
// The factors of other families are rounded up from what their providers document (see [NewEstimator]); what a provider adds
// around messages, calls and tools is 4, 12 and 16 tokens. Images, documents and sound count as providers document it; where
// their size can't be read, as the largest.
//
// # Guarantees
//
// What is given is never changed. The same conversation, configuration and answers of the summariser give the same result,
// and compacting again finds nothing to do. Failures of summaries, strategies and stores, panics among them, are warnings;
// the next strategy goes on. There are no goroutines. A step at which nothing is due costs what is new in it.
package memory
