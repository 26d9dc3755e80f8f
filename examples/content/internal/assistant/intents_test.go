package assistant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
)

// sentences are messages and what they want. Not all of them are recognized.
var sentences = map[string][]string{
	GenerateTopics: {
		"Give me topic ideas for LinkedIn", "Suggest some topics", "What should I write about next week?",
		"I need ideas for blog posts", "Research topics for my audience",
		"Can you brainstorm a few ideas?", "Find me five topics about pricing", "Any ideas?",
		"Propose topics that fit my goals", "I'm out of ideas", "What could I post on Monday?",
	},
	ResearchTopic: {
		"Research this topic", "Do some research on remote work", "Gather information about four-day weeks",
		"Deep dive into pricing", "Find sources for this", "Research about AI in law",
		"Please start the research", "Collect sources for my article", "research", "Look for more sources",
		"Look into this for me",
	},
	CreateSkeleton: {
		"Create a skeleton", "Make an outline for this", "Generate the structure", "Build a new outline",
		"Outline this for me", "Give me an outline", "Draft the skeleton please", "skeleton",
		"Structure my article", "I want to see the outline first",
	},
	WriteContent: {
		"Just write", "Write the content", "Write this article", "Fill in the sections", "Expand the skeleton",
		"Draft the post", "Please write my text now", "Write it", "Go on and write the sections",
		"Turn the outline into text",
	},
	HumanizeContent: {
		"Humanize this", "Humanise the text", "Make it sound more human", "Remove the AI patterns",
		"It should sound more natural", "It reads like a machine", "Make this less robotic", "naturalize",
		"Remove AI phrases from it", "It doesn't sound like me",
	},
	CreateVisuals: {
		"Add images", "Create the visuals", "Generate an image for each section", "now add images",
		"Make some illustrations", "Illustrate this", "Draw a picture", "images", "I need visuals", "It needs pictures",
	},
	FullPipeline: {
		"Create content for artifact 6b8b4567-327b-4c64-a432-7f0066334873: Remote work",
		"Do everything from start to finish", "Run the full pipeline", "Create the content", "Complete the workflow",
		"Produce all the content", "Full content creation please", "Do everything", "Run the whole process",
		"Take it from idea to published text",
	},
	PartialPipeline: {
		"Research this topic and create the skeleton", "Create an outline, then write the text",
		"Write the content and add images", "Humanize it and add some images",
		"Research it, create a skeleton, and write the article", "Write it; humanize it",
		"First outline this, then write it", "Add images and humanize the text",
	},
	SkipVisuals: {
		"Skip the visuals", "Just write the content, skip the visuals", "No images please",
		"Finish it without pictures", "I'll add the images myself", "without visuals", "Leave the images out",
	},
	QueryStatus: {
		"What's the status?", "Where are we?", "How far are you?", "Is it done?", "Show me the progress",
		"Tell me the status of this", "progress", "What is the status of my article", "Is it ready yet?",
		"Are you finished?",
	},
	ModifyContent: {
		"Change the title", "Make it shorter", "Shorten the introduction", "Rewrite the conclusion",
		"Fix the second paragraph", "Edit this text", "Replace the hook", "Update the tone", "Make this funnier",
		"The intro is too long",
	},
	TryAgain: {"Try again", "Please retry", "try it again", "Try that again please", "Once more"},
	Clarify: {
		"help me with something", "Hello", "Thanks!", "What can you do?", "Who are you?", "Show my drafts",
		"I don't know", "The weather is nice today",
	},
}

// Of 120 sentences, at least 105 are recognized, and no other one starts a tool that changes
// something without a confirmation.
func TestIntentsOf120Sentences(t *testing.T) {
	t.Parallel()
	d, err := intent.New(intent.Config{Intents: intents})
	require.NoError(t, err)
	all, hits, missed := 0, 0, 0
	for want, list := range sentences {
		for _, text := range list {
			all++
			v, names := detect(d, text)
			if v.Intent == want {
				hits++
				continue
			}
			missed++
			t.Logf("%q: %s, not %s", text, v.Intent, want)
			require.False(t, len(names) > 0 && v.Band() == intent.Act, "%q is done as %s", text, v.Intent)
		}
	}
	require.Equal(t, 120, all)
	require.GreaterOrEqual(t, hits, 105)
	t.Logf("%d of %d are recognized", hits, all)
}

func BenchmarkDetect(b *testing.B) {
	d, err := intent.New(intent.Config{Intents: intents})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		detect(d, "Research this topic and create the skeleton, but without images")
	}
}
