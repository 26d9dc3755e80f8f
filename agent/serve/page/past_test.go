package page_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/provider"
)

// prepend applies the patches of older items.
func (s *screen) prepend(patches []page.Patch) {
	older := newScreen()
	for _, p := range patches {
		switch {
		case p.Item != nil && s.items[p.Item.ID] != nil, p.Blocks != nil && s.items[p.Blocks.ID] != nil:
		default:
			older.apply(p)
		}
	}
	for id, it := range older.items {
		s.items[id] = it
	}
	for id, b := range older.blocks {
		s.blocks[id] = b
	}
}

func TestAPageThatLoadsThePastInPartsShowsTheSame(t *testing.T) {
	var facts []agent.Fact
	for _, ev := range recorded(t) {
		if f, ok := ev.(agent.Fact); ok {
			facts = append(facts, f)
		}
	}
	deleted := facts[len(facts)-1].Envelope()
	for _, f := range facts { // the calls are marked, wherever they are
		if f, ok := f.(*agent.ToolFinished); ok {
			deleted.Seq++
			facts = append(facts, &machine.Undone{Meta: deleted, Calls: []machine.UndoneCall{{Call: f.Call}}})
		}
	}
	past := page.Past{Before: []provider.Message{provider.User("long ago"), provider.Assistant("*yes*")}, Facts: facts}
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	all, from := v.Newest(past, 1_000)
	require.Zero(t, from)
	want := newScreen()
	want.apply(all...)
	require.Equal(t, []string{"<p><em>yes</em></p>\n"}, want.blocks["b1"])

	for most := 1; most < 20; most++ {
		s := newScreen()
		patches, from := page.NewView(page.ViewConfig{Session: "s-1"}).Newest(past, most)
		s.apply(patches...)
		parts := 1
		for ; from > 0; parts++ {
			patches, from = page.NewView(page.ViewConfig{Session: "s-1"}).Older(past, from, most)
			s.prepend(patches)
		}
		require.Equal(t, want, s, "%d items at a time", most)
		if most == 1 {
			require.Greater(t, parts, 3)
		}
	}
}

func TestTheNewestItemsBeginWithARunOrACall(t *testing.T) {
	var facts []agent.Fact
	add := func(run int, f agent.Fact, meta *agent.Meta) {
		*meta = agent.Meta{Origin: &machine.Origin{Session: "s-1", Run: fmt.Sprint("r-", run)},
			Seq: uint64(len(facts) + 1)}
		facts = append(facts, f)
	}
	for run := range 300 {
		started := &agent.RunStarted{Message: provider.User("q"), Mode: "write"}
		add(run, started, &started.Meta)
		step := &agent.StepStarted{}
		add(run, step, &step.Meta)
		replied := &agent.Replied{Message: provider.Assistant("a")}
		add(run, replied, &replied.Meta)
		ended := &agent.RunEnded{Status: agent.Completed}
		add(run, ended, &ended.Meta)
	}
	past := page.Past{Facts: facts}
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	patches, from := v.Newest(past, 200)
	require.Equal(t, uint64(200*4+1), from)
	s := newScreen()
	s.apply(patches...)
	require.Len(t, s.items, 200)
	require.Equal(t, "write", s.state["mode"])
	require.Equal(t, "completed", s.state["status"])

	patches, from = v.Older(past, from, 200)
	require.Equal(t, uint64(100*4+1), from)
	for _, p := range patches {
		require.Nil(t, p.State)
	}
	_, from = v.Older(past, from, 200)
	require.Zero(t, from)
	patches, from = v.Older(past, 1, 200)
	require.Empty(t, patches)
	require.Zero(t, from)
}
