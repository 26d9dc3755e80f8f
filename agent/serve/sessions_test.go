package serve_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestASessionIsStartedListedAndDeleted(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("Hello, Ann."), providertest.Say("Again."),
		providertest.Say("Hello, Bob."))
	s.send("ann", "s-1", "  Hello\n there  ")
	s.send("ann", "s-1", "And now?")
	s.send("bob", "s-2", "Hi")

	var list struct {
		Sessions []struct{ Session, Title, Status string }
	}
	s.must("ann", "GET", "sessions", nil, &list)
	require.Len(t, list.Sessions, 1, "one sees only one's own")
	require.Equal(t, "s-1", list.Sessions[0].Session)
	require.Equal(t, "Hello there", list.Sessions[0].Title)
	require.Equal(t, "completed", list.Sessions[0].Status)

	var conversation struct{ Messages []provider.Message }
	s.must("ann", "GET", "sessions/messages?session=s-1", nil, &conversation)
	require.Len(t, conversation.Messages, 4)
	require.Equal(t, "Again.", conversation.Messages[3].Text())

	s.must("ann", "POST", "sessions/title", obj{"session": "s-1", "title": "Greetings"}, nil)
	var copied struct{ Session string }
	s.must("ann", "POST", "sessions/fork", obj{"session": "s-1"}, &copied)
	s.must("ann", "GET", "sessions", nil, &list)
	require.Len(t, list.Sessions, 2)
	s.must("ann", "DELETE", "sessions?session=s-1", nil, nil)
	s.must("ann", "GET", "sessions", nil, &list)
	require.Equal(t, copied.Session, list.Sessions[0].Session)
	require.Equal(t, "Greetings", list.Sessions[0].Title)
}

// pages returns the sessions of all pages of a list.
func (s *site) pages(limit int) (seen []string) {
	for next := "first"; next != ""; {
		var list struct {
			Sessions []struct{ Session string }
			Next     string
		}
		after := strings.TrimPrefix(next, "first")
		s.must("ann", "GET", fmt.Sprint("sessions?limit=", limit, "&after=", after), nil, &list)
		for _, l := range list.Sessions {
			seen = append(seen, l.Session)
		}
		next = list.Next
	}
	return seen
}

// A page is read from where the one before has ended, so that all pages of a long list read each
// session once, and the first one of each page twice.
func TestThePagesOfAListReadEachSessionOnce(t *testing.T) {
	const sessions, limit = 100, 10
	store := &reading{Store: &journal.MapStore{}}
	s := newSiteOf(t, agent.Config{Journal: store, Provider: providertest.Func(
		func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Say("ok").Response(), nil
		})}, serve.Config{})
	var want []string
	for i := range sessions {
		name := fmt.Sprintf("s-%02d", i)
		_, err := s.agent.Run(t.Context(), agent.Input{Session: name, Prompt: "x", Owner: "ann"})
		require.NoError(t, err)
		want = append([]string{name}, want...)
	}
	store.heads.Store(0)
	require.Equal(t, want, s.pages(limit))
	require.Equal(t, int64(sessions+sessions/limit-1), store.heads.Load())
}

// A reading store counts the heads that are read in lists.
type reading struct {
	journal.Store
	heads atomic.Int64
}

func (s *reading) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for h, err := range s.Store.Heads(ctx, f) {
			if s.heads.Add(1); !yield(h, err) {
				return
			}
		}
	}
}

func TestAListHasPages(t *testing.T) {
	var steps []providertest.Step
	for range 7 {
		steps = append(steps, providertest.Say("ok"))
	}
	s := newSite(t, serve.Config{}, steps...)
	for i := range 7 {
		s.send("ann", fmt.Sprint("s-", i), "x")
	}
	require.Equal(t, []string{"s-6", "s-5", "s-4", "s-3", "s-2", "s-1", "s-0"}, s.pages(3))
	require.Equal(t, serve.CodeMalformed, s.refused("ann", "GET", "sessions?limit=-1", nil).Code)
	none := base64.RawURLEncoding.EncodeToString([]byte("0001-01-01T00:00:00Z s-1"))
	for _, after := range []string{"x", none} {
		require.Equal(t, serve.CodeMalformed, s.refused("ann", "GET", "sessions?after="+after, nil).Code, after)
	}
	require.Equal(t, serve.CodeMalformed, s.refused("ann", "GET", "sessions?owner=bob", nil).Code)
}

func TestADecisionResumesTheRun(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"home"}), providertest.Say("Done."))
	s.send("ann", "s-1", "Delete it.")
	require.Empty(t, s.did())
	ids := s.pending("ann", "s-1")
	require.Len(t, ids, 1)
	s.must("ann", "POST", "sessions/decide",
		obj{"session": "s-1", "decisions": []obj{{"id": ids[0], "decision": "edit", "input": Page{"old"}}}}, nil)
	require.Equal(t, agent.Completed, s.wait("s-1").Status)
	require.Equal(t, []string{"old"}, s.did())
	require.Equal(t, serve.CodeUsed, s.refused("ann", "POST", "sessions/decide",
		obj{"session": "s-1", "decisions": []obj{{"id": ids[0], "decision": "approve"}}}).Code)
	require.Equal(t, []string{"old"}, s.did())
	facts, err := s.agent.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		if d, ok := f.(*machine.Decided); ok {
			require.Equal(t, "ann", d.Decision.User)
		}
	}
}

func TestARepeatedMessageStartsNothing(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("once"))
	var first, second struct {
		Run      string
		Repeated bool
	}
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x", "key": strings.Repeat("k", 1000)}, &first)
	s.wait("s-1")
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x", "key": strings.Repeat("k", 1000)},
		&second)
	require.True(t, second.Repeated)
	require.Equal(t, first.Run, second.Run)
}

func TestARunInProgressIsSteeredAndCanceled(t *testing.T) {
	model, gate := held(2)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "work"}, nil)
	<-gate.called
	var sent json.RawMessage // while the model hasn't answered
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "hurry", "key": "k"}, &sent)
	require.JSONEq(t, `{"session":"s-1","steered":true}`, string(sent))
	head, err := s.store.Head(t.Context(), "s-1")
	require.NoError(t, err)
	require.Positive(t, head.Inbox, "it waits to be read")
	gate.open <- struct{}{}
	<-gate.called
	var again struct{ Repeated bool }
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "hurry", "key": "k"}, &again)
	require.True(t, again.Repeated)
	require.Equal(t, serve.CodeBusy, s.refused("ann", "DELETE", "sessions?session=s-1", nil).Code)
	s.must("ann", "POST", "sessions/cancel", obj{"session": "s-1"}, nil)
	require.Equal(t, agent.Stopped, s.wait("s-1").Status)
	s.must("ann", "POST", "sessions/cancel", obj{"session": "s-1"}, nil) // again, which changes nothing
	require.Equal(t, serve.CodeIdle, s.refused("ann", "POST", "sessions/pause", obj{"session": "s-1"}).Code)
}

func TestARunThatWasPausedBlocksAMessageUntilItGoesOn(t *testing.T) {
	model, gate := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "work"}, nil)
	<-gate.called
	s.must("ann", "POST", "sessions/pause", obj{"session": "s-1"}, nil)
	gate.open <- struct{}{}
	require.Equal(t, agent.Paused, s.wait("s-1").Status)
	require.Equal(t, serve.CodeInterrupted,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "more"}).Code)
	s.must("ann", "POST", "sessions/continue", obj{"session": "s-1"}, nil)
	require.Equal(t, agent.Completed, s.wait("s-1").Status)
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "more"}, nil)
	require.Equal(t, agent.Completed, s.wait("s-1").Status)
}

func TestTheServerDecidesAboutAnInput(t *testing.T) {
	s := newSite(t, serve.Config{Input: func(r *http.Request, in *agent.Input) error {
		if in.Prompt == "no" {
			return serve.ErrSignIn
		}
		in.Labels = map[string]string{"plan": "free"}
		in.Session, in.Owner = "other", "eve" // without effect
		return nil
	}}, providertest.Say("ok"))
	s.send("ann", "s-1", "yes")
	info, err := s.agent.Session("s-1").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]string{"plan": "free"}, info.Labels)
	require.Equal(t, "ann", info.Owner)
	require.Equal(t, serve.CodeForbidden,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "no"}).Code)
	facts, err := s.agent.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	started := facts[0].(*agent.RunStarted)
	require.True(t, started.Interactive)
	require.Equal(t, "ann", started.User)
}

func TestFilesAreWhatTheyContain(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("seen"))
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00")
	exe := []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00")
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "look",
		"files": []obj{{"name": "../../a\n.png", "type": "text/html", "data": png}}}, nil)
	s.wait("s-1")
	messages, err := s.agent.Session("s-1").Messages(t.Context())
	require.NoError(t, err)
	media := messages[0].Parts[1].Media
	require.Equal(t, "image/png", media.Type)
	require.Equal(t, "a.png", media.Name)
	require.Equal(t, serve.CodeMediaType, s.refused("ann", "POST", "sessions/send",
		obj{"session": "s-2", "text": "x", "files": []obj{{"name": "a.png", "type": "image/png", "data": exe}}}).Code)
	require.Equal(t, serve.CodeMediaType,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x",
			"files": []obj{{"name": "a.svg", "type": "image/png", "data": []byte("<svg onload='x'>")}}}).Code)
	many := make([]obj, 11)
	for i := range many {
		many[i] = obj{"name": "a.png", "data": png}
	}
	require.Equal(t, serve.CodeTooLarge,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x", "files": many}).Code)
}

func TestAStandingApprovalIsListedAndRevoked(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("ok"))
	s.send("ann", "s-1", "x")
	var out struct{ Rules []json.RawMessage }
	s.must("ann", "GET", "sessions/rules?session=s-1", nil, &out)
	require.Empty(t, out.Rules)
	status, _ := s.call("ann", "DELETE", "sessions/rules?session=s-1&tool=delete", nil)
	require.Equal(t, 404, status)
}

func TestAMessageMayHaveAsManyBytesAsTheLimitAllows(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("Hello."))
	most := strings.Repeat("x", serve.MaxMessage)
	p := s.refused("ann", "POST", "sessions/send", obj{"session": "s", "text": most + "x"})
	require.Equal(t, http.StatusRequestEntityTooLarge, p.Status)
	require.Equal(t, serve.CodeTooLarge, p.Code)
	s.send("ann", "s", most)
}

func TestAMessageReplacesAnEarlierOne(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three."),
		providertest.Say("Four."))
	s.send("ann", "s-1", "First")
	s.send("ann", "s-1", "Second")
	facts, err := s.agent.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	var starts []uint64
	for _, f := range facts {
		if f, ok := f.(*agent.RunStarted); ok {
			starts = append(starts, f.Seq)
		}
	}
	require.Equal(t, serve.CodeBad,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x", "replaces": starts[0] + 1}).Code)
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "Instead", "replaces": starts[0]}, nil)
	s.wait("s-1")
	messages, err := s.agent.Session("s-1").Messages(t.Context())
	require.NoError(t, err)
	require.Len(t, messages, 2)
	require.Equal(t, "Instead", messages[0].Text())
	require.Equal(t, "Three.", messages[1].Text())

	last := events(t, s.request("ann", "GET", "view?session=s-1", nil), says("Instead"))
	require.NotContains(t, string(last[len(last)-1].Data), "Second")
}

// The answer to the first one was lost.
func TestARepeatedMessageThatReplacesAnotherChangesNothing(t *testing.T) {
	model, gate := held(2)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	gate.open <- struct{}{}
	s.send("ann", "s-1", "First")
	again := obj{"session": "s-1", "text": "Instead", "key": "k", "replaces": 1}
	var first, repeated struct {
		Run      string
		Repeated bool
	}
	s.must("ann", "POST", "sessions/send", again, &first)
	s.must("ann", "POST", "sessions/send", again, &repeated) // the run is in progress
	require.True(t, repeated.Repeated)
	require.Equal(t, first.Run, repeated.Run)
	require.Equal(t, serve.CodeBusy, s.refused("ann", "POST", "sessions/send",
		obj{"session": "s-1", "text": "Another", "key": "l", "replaces": 1}).Code)
	gate.open <- struct{}{}
	require.Equal(t, agent.Completed, s.wait("s-1").Status)
	s.must("ann", "POST", "sessions/send", again, &repeated)
	require.True(t, repeated.Repeated)
	require.Equal(t, first.Run, repeated.Run)
}

func TestAMessageIsAnsweredAgainWithItsFiles(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("One."), providertest.Say("Two."))
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "Read it",
		"files": []obj{{"name": "a.txt", "type": "text/plain", "data": "aGVsbG8="}}}, nil)
	s.wait("s-1")
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "replaces": 1}, nil)
	s.wait("s-1")
	messages, err := s.agent.Session("s-1").Messages(t.Context())
	require.NoError(t, err)
	require.Len(t, messages, 2)
	require.Equal(t, "Read it", messages[0].Text())
	require.Equal(t, "a.txt", messages[0].Parts[1].Media.Name)
	require.Equal(t, "Two.", messages[1].Text())
}
