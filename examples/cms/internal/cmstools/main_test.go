package cmstools

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	GetPage                = "cms.getPage"
	ListPages              = "cms.listPages"
	ListSections           = "cms.listSections"
	ListCollections        = "cms.listCollections"
	ListEntries            = "cms.listEntries"
	GetEntry               = "cms.getEntry"
	ListMedia              = "cms.listMedia"
	FindResource           = "cms.findResource"
	PreviewPage            = "cms.previewPage"
	SyncContents           = "cms.syncPageContents"
	AddPicture             = "cms.addPicture"
	UpdateSection          = "cms.updateSection"
	RemoveSection          = "cms.removeSection"
	DeleteEntry            = "cms.deleteEntry"
	AddMenuItem            = "cms.addMenuItem"
	RemoveMenuItem         = "cms.removeMenuItem"
	CreateSectionDef       = "cms.createSectionDef"
	UpdateSectionDef       = "cms.updateSectionDef"
	SyncSectionElements    = "cms.syncSectionElements"
	DeleteSectionDef       = "cms.deleteSectionDef"
	CreateCollectionDef    = "cms.createCollectionDef"
	SyncCollectionElements = "cms.syncCollectionElements"
)

// A bench is a new site and its tools.
type bench struct {
	t testing.TB
	*site.Site
	reg *tools.Registry
}

// newFile returns the path of a new small site. To copy it is quicker than to make it.
var newFile = filetest.Copies(func(path string) error {
	s, err := site.Open(path, site.Small)
	if err != nil {
		return err
	}
	return s.Close()
})

func newBench(t testing.TB) *bench {
	t.Helper()
	s, err := site.Open(newFile(t), site.Small)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	fetcher, err := web.NewFetcher(web.FetchConfig{Hosts: []string{"example.com"}})
	require.NoError(t, err)
	reg, err := tools.NewRegistry(All(Config{Site: s, Fetcher: fetcher, Preview: "http://localhost:4000"})...)
	require.NoError(t, err)
	return &bench{t, s, reg}
}

// admit checks a call in a mode.
func (b *bench) admit(mode, tool, input string) (*tools.Call, tools.Admission) {
	b.t.Helper()
	c := &tools.Call{Name: tool, Input: json.RawMessage(input), Mode: mode}
	a, err := b.reg.Admit(b.t.Context(), c, nil, nil, []tools.Policy{OneWrite})
	require.NoError(b.t, err)
	return c, a
}

// call runs a tool as if a person had approved it.
func (b *bench) call(tool, input string) tools.Outcome {
	b.t.Helper()
	mode := CRUD
	if tool == ValidatePlan {
		mode = Architect
	}
	return run(b.t.Context(), b.reg, tools.Call{Name: tool, Input: json.RawMessage(input), Mode: mode})
}

// run runs a call as if a person had approved it.
func run(ctx context.Context, reg *tools.Registry, c tools.Call) tools.Outcome {
	o := tools.Options{Policies: []tools.Policy{OneWrite}}
	out := reg.Run(ctx, c, o)
	if out.Question != nil {
		o.Approved = out.Question.Hash
		out = reg.Run(ctx, c, o)
	}
	return out
}

func said(out *tools.Outcome) string { return out.Text() }

// ok runs a tool, requires success, and decodes what the model would read.
func (b *bench) ok(tool, input string, into any) {
	b.t.Helper()
	out := b.call(tool, input)
	require.Equal(b.t, tools.OK, out.Status, "%s", said(&out))
	if into != nil {
		require.NoError(b.t, json.Unmarshal([]byte(said(&out)), into), "%s", said(&out))
	}
}

// fails runs a tool and requires an answer with these parts.
func (b *bench) fails(status tools.Status, tool, input string, parts ...string) {
	b.t.Helper()
	out := b.call(tool, input)
	require.Equal(b.t, status, out.Status, "%s", said(&out))
	for _, part := range parts {
		require.Contains(b.t, said(&out), part)
	}
}
