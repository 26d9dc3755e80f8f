package assistant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestTheDetectorKnowsTheIntents(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Create content for artifact 87852dcd-4ef1-4253-a7cb-c2131d350c9b: Remote work": FullPipeline,
		"Write an article about four-day weeks":                                         FullPipeline,
		"Suggest five topics about hiring":                                              "GENERATE_TOPICS",
		"Research this topic":                                                           "RESEARCH_TOPIC",
		"Make an outline":                                                               "CREATE_SKELETON",
		"Fill in the sections":                                                          "WRITE_CONTENT",
		"Humanize it":                                                                   "HUMANIZE_CONTENT",
		"Add images":                                                                    "CREATE_VISUALS",
		"Skip the images":                                                               "SKIP_VISUALS",
		"What's the status of this?":                                                    "QUERY_STATUS",
		"Make it shorter":                                                               "MODIFY_CONTENT",
		"How is the weather":                                                            Unsupported,
		"help me with something":                                                        Clarify,
	} {
		require.Equal(t, want, detect(message).Intent, message)
	}
	require.InDelta(t, 1, detect("Create content for artifact 87852dcd-4ef1-4253-a7cb-c2131d350c9b: X").Confidence, 0)
	require.Less(t, detect("Don't humanize it").Confidence, 0.7)
}

// With a real model, the program answers what a button sends, and the model all else: with what the
// detector takes it for, if that isn't sure.
func TestAModelAnswersAllButButtons(t *testing.T) {
	t.Parallel()
	var seen []*provider.Request
	b := newBench(t, asked(func(req *provider.Request) { seen = append(seen, req) }))
	a := b.ready("ann", "Remote work")
	other := b.draft("ann", "Hiring")
	require.Empty(t, seen, "a button has created it")
	for message, hint := range map[string]string{
		"How do I get the old version back?": "", "Who is my audience?": "",
		"Don't humanize it":  "takes the message for: HUMANIZE_CONTENT 0.60",
		"How is my progress": "takes the message for: QUERY_STATUS", "Make it shorter": "",
	} {
		seen = nil
		require.Equal(t, "Here it is.", b.say("ann", a.ID, message).Message, message)
		require.Len(t, seen, 1, message)
		text := seen[0].Messages[len(seen[0].Messages)-1].Text()
		for _, known := range []string{"Page: artifact", a.ID, other.ID + " (blog, draft): Hiring", "1, by "} {
			require.Contains(t, text, known, message)
		}
		require.Contains(t, text, hint, message)
		if hint == "" {
			require.NotContains(t, text, "takes the message for", message)
		}
		require.NotEmpty(t, seen[0].Labels.Extra.Get(labelIntent), message)
	}
	seen = nil
	b.say("ann", a.ID, "Show my drafts")
	require.Empty(t, seen)
}
