package assistant

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider/providertest"
)

var kills = flag.Int("kills", 0, "how many processes TestCrashesInPipelines kills, at least")

// lease is longer than a process that isn't killed is ever held up, because a process without its
// lease stops its pipelines.
const lease = 2 * time.Second

// openAt opens the services over a file in a directory, with the stand-in model.
func openAt(dir string) (*Services, error) {
	return New(Config{DB: filepath.Join(dir, "content.db"), Model: standin.Model(), Recover: 100 * time.Millisecond,
		Images: providertest.Draw(), Sources: standin.Sources(), Lease: lease})
}

// runPipelines is the role of the process that is killed: it says that it is open, continues the
// pipelines of the one before, starts those of the drafts, and prints each tool that has ended.
func runPipelines(args []string) error {
	ctx := context.Background()
	s, err := openAt(args[0])
	if err != nil {
		return err
	}
	fmt.Println("open")
	if err := s.Recover(ctx); err != nil {
		return err
	}
	all, err := s.Store.Artifacts(ctx, "ann")
	if err != nil {
		return err
	}
	for _, a := range all {
		session, err := s.Conversation(ctx, "ann", a.ID, false)
		if err != nil {
			return err
		}
		if _, err := s.Agent.Session(session).Info(ctx); err == nil { // the hub resumes it
			for ev, err := range s.Hub.Watch(ctx, session, 0) {
				if _, ended := ev.(*agent.RunEnded); ended || err != nil {
					break
				}
			}
			continue
		}
		answer := s.Execute(ctx, Request{User: "ann", Message: button(a), Session: a.ID,
			Progress: func(text string) { fmt.Println(text) }})
		if !answer.Success {
			return fmt.Errorf("%s: %s", a.Title, answer.Message)
		}
	}
	return s.Close()
}

// TestCrashesInPipelines kills processes in the middle of pipelines: each pipeline completes, no
// source is stored twice, and no artifact has a status without its content.
//
// The tests of the program have a sample, which waits for no leases.
func TestCrashesInPipelines(t *testing.T) {
	if *kills == 0 {
		t.Skip("it kills what -kills says")
	}
	t.Parallel()
	for killed, round := 0, 0; killed < *kills; round++ {
		dir := t.TempDir()
		s, err := openAt(dir)
		require.NoError(t, err)
		for i := range 2 {
			_, err := s.Store.Create(t.Context(), portfolio.Artifact{User: "ann", Type: portfolio.Types[(round+i)%3],
				Title: fmt.Sprint("Remote work ", i)})
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
		done := false
		for attempt := 0; !done; attempt++ {
			// each process has more time than the one before, so that the last completes on any
			// machine
			p := roletest.Start(t, "pipelines", dir)
			said := []string{p.Line()}
			stop := time.AfterFunc(time.Duration(rand.IntN(400*(1+attempt)))*time.Millisecond, func() {
				_ = p.Process.Kill()
			})
			for line := p.Line(); line != ""; line = p.Line() {
				said = append(said, line)
			}
			done = p.Wait() == nil
			if stop.Stop() && !done {
				t.Fatalf("the process has failed: %s", strings.Join(said, ""))
			}
			if !done {
				killed++
			}
			checkArtifacts(t, dir, done)
			if done {
				checkConversations(t, dir)
			}
		}
	}
}

// checkConversations checks that each conversation has the end of its pipeline, once.
func checkConversations(t *testing.T, dir string) {
	t.Helper()
	s, err := openAt(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for info, err := range s.Agent.Sessions(t.Context(), agent.SessionFilter{}) {
		require.NoError(t, err)
		messages, err := s.Agent.Session(info.Session).Messages(t.Context())
		require.NoError(t, err)
		text := ""
		for _, m := range messages {
			text += m.Text() + "\n"
		}
		require.Equal(t, 1, strings.Count(text, "Done: research"), "%s: %s", info.Session, text)
	}
}

// checkArtifacts checks what pipelines have left.
func checkArtifacts(t *testing.T, dir string, done bool) {
	t.Helper()
	s, err := portfolio.Open(filepath.Join(dir, "content.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	all, err := s.Artifacts(t.Context(), "ann")
	require.NoError(t, err)
	for _, a := range all {
		found, err := s.Research(t.Context(), "ann", a.ID)
		require.NoError(t, err)
		urls := map[string]bool{}
		for _, f := range found {
			require.False(t, urls[f.URL+f.Excerpt], "a source is there twice")
			urls[f.URL+f.Excerpt] = true
		}
		at := slices.Index([]portfolio.Status{portfolio.Draft, portfolio.Research, portfolio.Skeleton,
			portfolio.Writing, portfolio.CreatingVisuals, portfolio.Ready}, a.Status)
		require.Equal(t, at >= 1, len(found) > 0, "research of an artifact in %s", a.Status)
		require.Equal(t, at == 2 || at == 3, strings.Contains(a.Content, "[WRITE:"),
			"placeholders of an artifact in %s", a.Status)
		require.Equal(t, at >= 2, a.Content != "", "content of an artifact in %s", a.Status)
		require.Equal(t, at == 5, strings.Contains(a.Content, "!["), "images of an artifact in %s", a.Status)
		if done {
			pipelines, err := s.Pipelines(t.Context(), "ann", a.ID)
			require.NoError(t, err)
			require.Equal(t, portfolio.Ready, a.Status, "%+v", pipelines)
			require.Len(t, pipelines, 1, "the chat's call isn't made twice")
		}
	}
}
