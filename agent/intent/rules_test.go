package intent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/circuit/fault"
)

func TestRulesFindIntents(t *testing.T) {
	d, _ := detector(t)
	for text, want := range map[string]intent.Verdict{
		"Create content for artifact 1f0e-22: My title": {Intent: "pipeline", Confidence: 1},
		"Give me ideas": {Intent: "topics", Confidence: 0.95},
		// both patterns match the same words
		"Research   this\ntopic!": {Intent: "topics", Confidence: 0.6,
			Alternatives: []intent.Choice{{Intent: "research", Confidence: 0.6}}},
		"WRITE THE POST, please": {Intent: "write", Confidence: 0.95},
		"What’s the status?":     {Intent: "status", Confidence: 0.95},
		"Some progress?":         {Intent: "status", Confidence: 0.75},
		"natural":                {Intent: "humanize", Confidence: 0.75},
		"a supernatural postscript, rewrite the poster": {},
		"help me with something":                        {},
		"":                                              {},
		"write the article and add images": {Intent: "write", Confidence: 0.6,
			Alternatives: []intent.Choice{{Intent: "visuals", Confidence: 0.6}}},
		"create content for artifact 12 and humanize": {Intent: "pipeline", Confidence: 1,
			Alternatives: []intent.Choice{{Intent: "humanize", Confidence: 0.6}}},
		strings.Repeat("x", 4<<10) + " humanize": {},
		"\xff humanize \xff":                     {Intent: "humanize", Confidence: 0.95},
		"humanize, add images, create skeleton, where are we": {Intent: "skeleton", Confidence: 0.6,
			Alternatives: []intent.Choice{{Intent: "humanize", Confidence: 0.6}, {Intent: "visuals", Confidence: 0.6},
				{Intent: "status", Confidence: 0.6}}},
	} {
		want.From = intent.FromRules
		require.Equal(t, want, d.Match(text), text)
	}
}

func TestAMatchWithinALongerOneDoesNotCount(t *testing.T) {
	d, err := intent.New(intent.Config{Intents: []intent.Intent{
		{Name: "ideas", Patterns: []intent.Pattern{bare(`ideas`)}},
		{Name: "research", Patterns: []intent.Pattern{bare(`research ideas`)}},
	}})
	require.NoError(t, err)
	require.Equal(t, intent.Verdict{Intent: "research", Confidence: 0.75, From: intent.FromRules},
		d.Match("research ideas"))
	require.Equal(t, intent.Verdict{Intent: "ideas", Confidence: 0.75, From: intent.FromRules}, d.Match("ideas"))
}

func TestTheHeaviestPatternCounts(t *testing.T) {
	d, err := intent.New(intent.Config{
		Intents: []intent.Intent{{Name: "a", Patterns: []intent.Pattern{bare("x"), sure("y"), bare("z")}}}})
	require.NoError(t, err)
	require.Equal(t, 0.95, d.Match("y x z").Confidence)
}

func TestTwoCertainIntentsAreAmbiguous(t *testing.T) {
	d, err := intent.New(intent.Config{Intents: []intent.Intent{
		{Name: "a", Patterns: []intent.Pattern{{Text: "aa", Weight: 1}}},
		{Name: "b", Patterns: []intent.Pattern{{Text: "bb", Weight: 1}}},
	}})
	require.NoError(t, err)
	require.Equal(t, intent.Offer, d.Match("aa bb").Band())
	require.Equal(t, intent.Act, d.Match("aa").Band())
}

func TestTheBands(t *testing.T) {
	for confidence, want := range map[float64]intent.Band{1: intent.Act, 0.9: intent.Act, 0.89: intent.Confirm,
		0.7:  intent.Confirm,
		0.69: intent.Offer, 0.5: intent.Offer, 0.49: intent.Ask, 0: intent.Ask} {
		require.Equal(t, want, intent.Verdict{Intent: "a", Confidence: confidence}.Band(), confidence)
		require.Equal(t, intent.Ask, intent.Verdict{Confidence: confidence}.Band())
	}
}

func TestInvalidIntentsAreNamed(t *testing.T) {
	one := func(p intent.Pattern) []intent.Intent {
		return []intent.Intent{{Name: "a", Patterns: []intent.Pattern{p}}}
	}
	for want, list := range map[string][]intent.Intent{
		"Config.Intents is empty":                    nil,
		`Config.Intents[0] is named ""`:              {{}},
		`Config.Intents[1] is named "a"`:             {{Name: "a"}, {Name: "a"}},
		`Config.Intents[0] is named "something el`:   {{Name: "something else"}},
		`the pattern "a" of a has the weight 0`:      one(intent.Pattern{Text: "a"}),
		`the pattern "a" of a has the weight 1.1`:    one(intent.Pattern{Text: "a", Weight: 1.1}),
		`the pattern "aB" of a has letters in upper`: one(bare("aB")),
		"error parsing regexp":                       one(bare("a) (b")),
	} {
		_, err := intent.New(intent.Config{Intents: list})
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	_, err := intent.New(intent.Config{Intents: one(bare(`\S+\PL`))})
	require.NoError(t, err)
}

// Rules are to take at most 150 µs for a text of ordinary length, and a millisecond if it has to be
// read in other words.
func BenchmarkMatch(b *testing.B) {
	d, _ := detector(b)
	for name, text := range map[string]string{
		"match": "Could you please write the article for my consulting customers, in a friendly tone?",
		"no match": "I met somebody yesterday who told me that our customers are waiting for something, and I don't " +
			"know what.",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Match(text)
			}
		})
	}
}
