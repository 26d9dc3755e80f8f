package assistant

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func TestWhatBeginsANewConversation(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	v := Session{Artifact: "a", Used: now}
	for message, want := range map[string]string{
		"Let's start over": "the user starts over", "A new topic, please": "the user starts over",
		"reset":          "the user starts over",
		"now add images": "", "Preset the tone": "", "": "",
	} {
		require.Equal(t, want, resets(&v, message, "", now.Add(time.Minute)), message)
	}
	require.Equal(t, "another artifact", resets(&v, "Humanize this", "b", now))
	require.Empty(t, resets(&v, "Humanize this", "a", now))
	require.Empty(t, resets(&v, "Humanize this", "", now.Add(idle)))
	require.Equal(t, "30 minutes without a message", resets(&v, "Humanize this", "", now.Add(idle+time.Second)))
	var first Session
	require.Empty(t, resets(&first, "Humanize this", "a", now))
}

// After a reset the model doesn't see the turns before, and "this" means nothing.
func TestANewConversationForgets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	require.True(t, b.say("ann", a.ID, "What's the status?").Success)
	answer := b.Execute(t.Context(), Request{User: "ann", Message: "Start over"})
	require.True(t, answer.Success, "%+v", answer)
	answer = b.Execute(t.Context(), Request{User: "ann", Message: "Humanize this"})
	require.True(t, answer.ClarificationNeeded)
	require.Empty(t, answer.ToolsUsed)
	now := time.Now()
	session := func(user string, at time.Time) (Session, string) {
		v, why, err := b.session(t.Context(), "ann/1", user, "x", a.ID, at)
		require.NoError(t, err)
		return v, why
	}
	v, why := session("ann", now)
	require.Empty(t, why)
	require.Equal(t, 1, v.Thread)
	_, why = session("ann", now.Add(time.Hour))
	require.Equal(t, becauseIdle, why)
	other, err := b.Session(t.Context(), "ann/1", "ben")
	require.NoError(t, err)
	require.Zero(t, other, "a session of somebody else isn't shown")
}

// A question that waits for its answer, and what "this" means, survive the process; so does a
// reset.
func TestSessionsSurviveTheProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	require.True(t, b.say("ann", a.ID, "images?").ClarificationNeeded)
	next := newBench(t, func(c *Config) { c.DB = b.Store.Path() })
	answer := next.say("ann", "", "Yes")
	require.True(t, answer.Success, "%+v", answer)
	require.Equal(t, []string{portfolio.VisualsCreator}, answer.ToolsUsed)
	v, err := next.Session(t.Context(), answer.SessionID, "ann")
	require.NoError(t, err)
	require.Equal(t, portfolio.VisualsCreator, v.LastTool)
	require.Empty(t, v.Asked)

	v, err = next.ResetSession(t.Context(), answer.SessionID, "ann")
	require.NoError(t, err)
	require.Equal(t, Session{Thread: 1, Used: v.Used}, v)
	again := newBench(t, func(c *Config) { c.DB = b.Store.Path() })
	require.True(t, again.say("ann", "", "Humanize this").ClarificationNeeded)
}

// A switch to another artifact is said, once.
func TestASwitchToAnotherArtifactIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, other := b.draft("ann", "Remote work"), b.draft("ann", "Four days")
	require.NotContains(t, b.say("ann", a.ID, "What's the status?").Message, "Now about")
	answer := b.say("ann", a.ID, "What's the status of artifact "+other.ID+"?")
	require.True(t, strings.HasPrefix(answer.Message, "Now about “Four days”. "), answer.Message)
	require.NotContains(t, b.say("ann", other.ID, "What's the status?").Message, "Now about")
}

// What another user says in a session of the same name is another conversation, for the model too.
func TestTheSameSessionOfTwoUsers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	require.True(t, b.Execute(t.Context(),
		Request{User: "ann", Session: "one", Message: "What's the status?", Screen: Screen{ArtifactID: a.ID}}).Success)
	answer := b.Execute(t.Context(), Request{User: "ben", Session: "one", Message: "What's the status?"})
	require.True(t, answer.Success, "%+v", answer)
	require.NotContains(t, answer.Message, "Remote work")
	v, err := b.Session(t.Context(), "one", "ann")
	require.NoError(t, err)
	require.Equal(t, a.ID, v.Artifact)
}
