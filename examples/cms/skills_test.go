package main

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// offeredIn returns the names of a request's tools as a model reads them, and how many tokens the
// tools take, at four characters each.
func offeredIn(t *testing.T, req *provider.Request) (names []string, tokens int) {
	text, err := json.Marshal(req.Tools)
	require.NoError(t, err)
	for _, tool := range req.Tools {
		names = append(names, strings.ReplaceAll(tool.Name, ".", "_"))
	}
	return names, len(text) / 4
}

func TestARequestHasFewTools(t *testing.T) {
	t.Parallel()
	for mode, most := range map[string]struct{ tools, tokens int }{cmstools.CRUD: {16, 3_000},
		cmstools.Architect: {18, 4_000}, cmstools.Debug: {22, 4_000}, cmstools.Ask: {13, 2_000}} {
		names, tokens := offeredIn(t, newBench(t).withModel().say(agent.Input{Mode: mode, Prompt: "Go"}))
		require.LessOrEqual(t, len(names), most.tools, "%s: %v", mode, names)
		require.LessOrEqual(t, tokens, most.tokens, mode)
	}
}

// What most requests don't need is one call away, and that call says how it is used.
func TestASkillLoadsItsTools(t *testing.T) {
	t.Parallel()
	skills, err := fs.Glob(instructions, "instructions/skills/*/SKILL.md")
	require.NoError(t, err)
	loaded := map[string]bool{}
	for _, file := range skills {
		name := path.Base(path.Dir(file))
		w := newBench(t).withModel(providertest.Call("skill", object{"name": name}))
		req := w.say(agent.Input{Prompt: "Go"})
		before, _ := offeredIn(t, w.requests[0])
		names, tokens := offeredIn(t, req)
		require.LessOrEqual(t, len(names), 20, "%s: %v", name, names)
		require.LessOrEqual(t, tokens, 5_000, name)
		require.Greater(t, len(names), len(before), name)
		for _, n := range names[len(before):] {
			loaded[n] = true
		}
		text, err := fs.ReadFile(instructions, file)
		require.NoError(t, err)
		for _, called := range regexp.MustCompile(`\b(cms|plan|http)_\w+`).FindAllString(string(text), -1) {
			require.Contains(t, names, called, name)
		}
		require.NotContains(t, req.Messages[len(req.Messages)-1].Parts[0].Result.Text(), "Warning", name)
	}
	w := newBench(t).withModel()
	here, _ := offeredIn(t, w.say(agent.Input{Prompt: "Go"}))
	for _, d := range w.hub.Agent().Tools().All() {
		name := strings.ReplaceAll(d.Name(), ".", "_")
		if d.Spec().InMode(cmstools.CRUD) && !loaded[name] {
			require.Contains(t, here, name, "no skill loads it")
		}
	}
}

// A skill costs one model call: the tools are there in the next one, and in later runs.
func TestAPostIsWrittenWithOneMoreCall(t *testing.T) {
	t.Parallel()
	post := object{"collection": "blog", "title": "Rye", "content": object{"body": "Soon."}}
	w := newBench(t).withModel(providertest.Call("skill", object{"name": "entries"}),
		providertest.Call(cmstools.UpsertEntry, post))
	w.say(agent.Input{Session: "s", Prompt: "Write a post titled Rye"})
	require.Len(t, w.requests, 3)
	_, err := w.site.GetEntryIn(t.Context(), "blog", "rye", "")
	require.NoError(t, err)
	names, _ := offeredIn(t, w.say(agent.Input{Session: "s", Prompt: "And another one"}))
	require.Contains(t, names, "cms_upsertEntry")
	names, _ = offeredIn(t, w.say(agent.Input{Session: "s", Mode: cmstools.Ask, Prompt: "Which are there?"}))
	require.NotContains(t, names, "cms_upsertEntry")
}

// A client that names the tools of a run gets no others, whatever the mode offers.
func TestARunThatNamesItsToolsHasNoOthers(t *testing.T) {
	t.Parallel()
	for _, mode := range cmstools.Modes {
		names, _ := offeredIn(t, newBench(t).withModel().say(agent.Input{Mode: mode.Name, Prompt: "Go",
			Only: []string{"cms.listPages"}}))
		require.Equal(t, []string{"cms_listPages"}, names, mode.Name)
	}
	one := agent.Input{Prompt: "Go", Only: []string{cmstools.UpsertEntry}}
	names, _ := offeredIn(t, newBench(t).withModel().say(one))
	require.Equal(t, []string{"cms_upsertEntry"}, names, "no skill needs to be read")
}
