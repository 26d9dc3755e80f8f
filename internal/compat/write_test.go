package compat

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
	"github.com/pawlkit/pawl/provider/providertest"
)

var write = flag.String("write", "", "write the files of this version, such as v0.1.0")

// What the files have.
const (
	session = "site"    // a run that is done, and one that waits for an approval
	release = "release" // a plan that stopped in its second node
)

// note is an entry of working memory.
var note = recall.Entry{
	ID:    recall.ID{Tenant: "acme", Kind: "fact", Key: "deploy.command"},
	Value: []byte("make deploy"),
}

// members is an item of the index.
var members = index.Item{ID: "page-3", Kind: "page", Name: "Members", Text: "our team and staff"}

// TestWriteTheFilesOfThisVersion writes a folder of testdata, if -write names a version.
func TestWriteTheFilesOfThisVersion(t *testing.T) {
	if *write == "" {
		t.Skip("no -write")
	}
	dir := filepath.Join("testdata", *write)
	require.NoError(t, os.Mkdir(dir, 0o755), "a released version is never written again")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	store, err := sqlite.Open(filepath.Join(dir, "journal.db"), sqlite.Config{})
	require.NoError(t, err)
	done := &effects{interrupt: stop}
	a := newAgent(t, store, done, providertest.Call("record", page{"home"}), providertest.Say("It is recorded."),
		providertest.Call("record", page{"about"}), providertest.Call("remove", page{"about"}))
	_, err = a.Run(ctx, agent.Input{Session: session, Prompt: "Record the home page."})
	require.NoError(t, err)
	res, err := a.Run(ctx, agent.Input{Session: session, Prompt: "Record the page About, then remove it."})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, "Remove “about”", res.Pending[0].Title)

	plans, err := plan.New(plan.Config{Agent: a})
	require.NoError(t, err)
	_, err = plans.Start(ctx, release, &plan.Plan{Title: "Release the site", Nodes: []plan.Node{
		{ID: "record", Tool: "record", Input: map[string]any{"page": "news"}},
		{ID: "publish", Tool: "publish", Input: map[string]any{"page": "news"}, After: []string{"record"}},
		{ID: "announce", Tool: "announce", Input: map[string]any{"page": "news"}, After: []string{"publish"}},
	}})
	require.NoError(t, err)
	pending, err := plans.Pending(ctx, release)
	require.NoError(t, err)
	for _, p := range pending {
		require.NoError(t, plans.Decide(ctx, release, agent.Approve(p.ID).By("ann")))
	}
	plans.Serve(ctx) // until the node publish stops it
	require.NoError(t, store.Close())
	done.save(t, filepath.Join(dir, "effects.txt"))

	ctx = t.Context()
	memories, err := sqlmemory.Open(filepath.Join(dir, "memory.db"), sqlmemory.Config{})
	require.NoError(t, err)
	_, err = memories.Put(ctx, note)
	require.NoError(t, err)
	require.NoError(t, memories.Close())

	entries := &index.Exact{}
	finder, err := index.New(index.Config{Index: entries})
	require.NoError(t, err)
	require.NoError(t, finder.Put(ctx, members))
	require.NoError(t, entries.Save(filepath.Join(dir, "index.jsonl")))
	writeStages(t, dir)
}
