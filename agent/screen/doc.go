// Package screen checks texts before an agent gets them: their length, and patterns of attempts to
// give the model other instructions. It also cleans them, and marks the results of tools as data.
//
//	s, err := screen.New(screen.Config{})
//	if err != nil {
//		return err
//	}
//	agent.New(agent.Config{
//		Hooks: []agent.Hooks{s.Hooks()},                          // prompts, steering, decisions
//		Tools: []tools.Tool{s.Wrap(readMail, "the mail server")}, // results
//		…
//	})
//
// A text that is refused isn't recorded: the caller gets [agent.ErrRefused] with an *[Error],
// the journal contains nothing, and the log has the name of the pattern and a preview of at most
// 100 characters, without secrets that [secret.Redact] finds, and without e-mail addresses and
// telephone numbers that [Mask] finds.
//
// # What it finds
//
// Of the eight [Patterns], six refuse and two, which everyday requests also match, only warn. They
// know some ways of saying the same in English, German, French, Spanish, Portuguese, Italian,
// Dutch, Polish, Russian, Turkish, Chinese, Japanese and Korean, whatever the case, the white
// space, invisible characters, and full-width letters. A test has 60 attacks and 60 everyday
// sentences: of the attacks, 46 are refused, 2 cause a warning, and 12 pass; of the everyday
// sentences, 3 are refused and 2 cause a warning. The patterns and these sentences were written
// together, so in use less is found and more is refused by mistake.
//
// Patterns don't make an agent safe: an attack only has to be put in other words. They keep off the
// plainest ones and make them visible in the log. What an agent may do is up to its tools, policies
// and approvals.
package screen
