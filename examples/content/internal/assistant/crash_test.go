package assistant

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

var kills = flag.Int("kills", 2, "how many processes TestCrashesInPipelines kills, at least")

// lease is longer than a process that isn't killed is ever held up, because a process without its
// lease stops its pipelines.
const lease = 2 * time.Second

// openAt opens the services over a file in a directory, with the stand-in model.
func openAt(dir string) (*Services, error) { return openWith(dir, standin.Model()) }

func openWith(dir string, model provider.Provider) (*Services, error) {
	return New(Config{DB: filepath.Join(dir, "content.db"), Model: model,
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
	drafts, err := s.Store.Artifacts(ctx, "ann", portfolio.Draft)
	if err != nil {
		return err
	}
	for _, a := range drafts {
		answer := s.Execute(ctx,
			Request{User: "ann", Message: button(a), Progress: func(p Step) { fmt.Println(p.Tool, p.State) }})
		if !answer.Success {
			return fmt.Errorf("%s: %s", a.Title, answer.Message)
		}
	}
	return s.Close()
}

// TestCrashesInPipelines kills processes in the middle of pipelines: each pipeline completes, no
// source is stored twice, and no artifact has a status without its content.
func TestCrashesInPipelines(t *testing.T) {
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
		}
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
		}
	}
}

// beginTurn is the role of a process that is killed in a turn of the chat: it says when the model
// is asked, and waits.
func beginTurn(args []string) error {
	s, err := openWith(args[0],
		providertest.Func(func(ctx context.Context, _ *provider.Request) (*provider.Response, error) {
			fmt.Println("asked")
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	if err != nil {
		return err
	}
	s.Execute(context.Background(), Request{User: "ann", Message: "Show my drafts"})
	return s.Close()
}

func TestAConversationWhoseProcessHasDiedGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := roletest.Start(t, "turn", dir)
	require.Equal(t, "asked", p.Line())
	require.NoError(t, p.Process.Kill())
	require.Error(t, p.Wait())
	s, err := openAt(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	db, err := sql.Open("sqlite", filepath.Join(dir, "content.db"))
	require.NoError(t, err)
	_, err = db.Exec("UPDATE pawl_sessions SET until = 1 WHERE until IS NOT NULL") // the lease ends
	require.NoError(t, errors.Join(err, db.Close()))
	answer := s.Execute(t.Context(), Request{User: "ann", Message: "Show my drafts"})
	require.True(t, answer.Success, "%+v", answer.Error)
}
