package intent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sure and bare are patterns of the weights that a verb in front and a single word have.
func sure(text string) intent.Pattern { return intent.Pattern{Text: text, Weight: 0.95} }
func bare(text string) intent.Pattern { return intent.Pattern{Text: text, Weight: 0.75} }

// content are the intents of an agent for content.
func content() []intent.Intent {
	return []intent.Intent{
		{Name: "topics", Description: "suggest topics",
			Patterns: []intent.Pattern{sure(`(?:research|suggest) (?:\S+ ){0,4}(?:topics?|ideas?)`),
				sure(`what should i write`), sure(`give me (?:some )?(?:\S+ )?(?:topics|ideas)`), bare(`ideas?`)}},
		{Name: "research", Description: "research a topic",
			Patterns: []intent.Pattern{sure(`research (?:about|on|for)`), sure(`research this topic`),
				sure(`deep dive (?:on|into)`), sure(`gather (?:information|research)`)}},
		{Name: "skeleton", Description: "create a skeleton",
			Patterns: []intent.Pattern{sure(`create (?:a )?skeleton`), sure(`generate (?:the )?structure`),
				sure(`outline (?:for|the)`)}},
		{Name: "write", Description: "write the content",
			Patterns: []intent.Pattern{sure(`write (?:the )?(?:content|article|post)`),
				sure(`fill in (?:the )?sections`), sure(`expand (?:the )?skeleton`)}},
		{Name: "humanize", Description: "make the text sound natural",
			Patterns: []intent.Pattern{sure(`humani[sz]e`), sure(`make it sound (?:more )?human`),
				sure(`remove ai (?:patterns|writing)`), bare(`natural(?:ize)?`)}},
		{Name: "visuals", Description: "create images",
			Patterns: []intent.Pattern{sure(`create (?:the )?images?`), sure(`generate (?:the )?visuals?`),
				sure(`add (?:the )?images?`)}},
		{Name: "pipeline", Description: "do everything",
			Patterns: []intent.Pattern{{Text: `create content for artifact [a-f0-9 ]+`, Weight: 1},
				sure(`full (?:content )?creation`), sure(`complete (?:the )?workflow`), sure(`start to finish`)}},
		{Name: "status", Description: "say how far it is",
			Patterns: []intent.Pattern{sure(`what(?:'s| is) (?:the )?status`), sure(`where are we`), bare(`progress`)}},
	}
}

// detector returns a Detector of content whose model follows the script.
func detector(t testing.TB, steps ...providertest.Step) (*intent.Detector, *providertest.Model) {
	t.Helper()
	model := providertest.Script(steps...)
	d, err := intent.New(intent.Config{Intents: content(),
		Model: func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			return provider.Generate(ctx, model, req)
		}})
	require.NoError(t, err)
	return d, model
}
