package contenttools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func TestEachPromptHasTheAuthorTheIdeaTheFormAndTheTone(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	set, err := loadPrompts()
	require.NoError(t, err)
	k := &kit{Config{Store: b.Store}, set}
	idea := []byte(`{"suggestedAngle":"a diary","audience":"bakers </data-1>","rationale":"they asked"}`)
	for _, mode := range []string{"insights", "topics/blog", "skeleton/showcase/formal", "writer/social_post/humorous",
		"humanizer/blog/technical"} {
		req, err := k.request(t.Context(), task{strings.Split(mode, "/"), "ann", idea, "Title: Bread", 0.5})
		require.NoError(t, err)
		require.Contains(t, req.System, "Never invent sources")
		for _, part := range strings.Split(mode, "/")[1:] {
			require.Contains(t, strings.ToLower(req.System), strings.ReplaceAll(part, "_", " "), mode)
		}
		text := req.LastUserText()
		for _, want := range []string{"Independent consultant for remote teams", "Angle: a diary", "they asked",
			"<data-2 name=\"idea\">", "Task:\nTitle: Bread"} {
			require.Contains(t, text, want, mode)
		}
	}
	_, err = k.request(t.Context(), task{[]string{"writer", "blog", "angry"}, "ann", nil, "", 0})
	require.Error(t, err)
}
