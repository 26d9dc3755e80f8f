package cmstools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

// done makes a call, and returns a function that undoes it.
func (b *bench) done(tool, input string) (undo func()) {
	b.t.Helper()
	out := b.call(tool, input)
	require.Equal(b.t, tools.OK, out.Status, said(&out))
	d, _ := b.reg.Lookup(tool)
	return func() {
		b.t.Helper()
		for range 2 { // the second time it is already undone
			require.NoError(b.t, d.Undo(b.t.Context(), json.RawMessage(input), json.RawMessage(said(&out))), tool)
		}
	}
}

func (b *bench) home() *site.Page {
	b.t.Helper()
	p, err := b.GetPage(b.t.Context(), "home", "")
	require.NoError(b.t, err)
	return p
}

func TestASectionIsMovedHiddenAndRemovedAndEachIsUndone(t *testing.T) {
	b := newBench(t)
	b.ok(AddSection, `{"page":"home","section":"text","content":{"heading":"H","body":"B"}}`, nil)
	before := b.home().Sections
	for _, call := range [][2]string{{UpdateSection, `{"sectionId":"sec_home_hero","sortOrder":1}`},
		{UpdateSection, `{"sectionId":"sec_home_hero","status":"unpublished"}`},
		{RemoveSection, `{"sectionId":"sec_home_hero"}`}} {
		undo := b.done(call[0], call[1])
		require.NotEqual(t, before, b.home().Sections)
		undo()
		require.Equal(t, before, b.home().Sections)
	}
}

func TestAPageIsPublishedAndMadeADraft(t *testing.T) {
	b := newBench(t)
	b.ok(CreatePage, `{"name":"About"}`, nil)
	undo := b.done(UpdatePage, `{"page":"about","status":"published"}`)
	p, err := b.GetPage(t.Context(), "about", "")
	require.NoError(t, err)
	require.Equal(t, site.Published, p.Status)
	undo()
	p, err = b.GetPage(t.Context(), "about", "")
	require.NoError(t, err)
	require.Equal(t, site.Draft, p.Status)
}

func TestAPictureOfTheLibraryReplacesOneOrJoinsAList(t *testing.T) {
	b := newBench(t)
	list, err := b.ListMedia(t.Context(), site.ListMedia{})
	require.NoError(t, err)
	name := list.Items[0].Name
	b.ok(CreateSectionDef, `{"name":"Shots","elements_structure":{"rows":[{"slots":[
		{"key":"images","type":"image","dataRules":{"multiple":true}}]}]}}`, nil)
	b.ok(AddSection, `{"page":"home","section":"shots","content":{}}`, nil)
	for range 2 {
		b.ok(AddPicture, `{"page":"home","section":"shots","media":"`+name+`","alt":"A"}`, nil)
	}
	require.Len(t, b.home().Sections[1].Content["images"], 2)
	undo := b.done(AddPicture, `{"page":"home","section":"hero","media":"`+name+`","alt":"New"}`)
	require.Equal(t, "New", b.home().Sections[0].Content["image"].(map[string]any)["alt"])
	undo()
	require.NotEqual(t, "New", b.home().Sections[0].Content["image"].(map[string]any)["alt"])
	b.fails(tools.Failed, AddPicture, `{"page":"home","section":"hero","media":"no.png"}`, `no uploaded file "no.png"`)
}

func TestAMenuGetsAndLosesAnItem(t *testing.T) {
	b := newBench(t)
	_, err := b.PutNavigation(t.Context(), site.Navigation{Name: "main"})
	require.NoError(t, err)
	labels := func() (all []string) {
		n, err := (&desk{b.Site}).menu(t.Context(), "")
		require.NoError(t, err)
		for _, item := range n.Items {
			all = append(all, item.Value)
		}
		return all
	}
	b.ok(CreatePage, `{"name":"About"}`, nil)
	b.ok(AddMenuItem, `{"page":"home"}`, nil)
	b.ok(AddMenuItem, `{"page":"about","position":0}`, nil)
	require.Equal(t, []string{"About", "Home"}, labels())
	undo := b.done(AddMenuItem, `{"page":"about","label":"Us"}`)
	require.Equal(t, []string{"Us", "Home"}, labels())
	undo()
	undo = b.done(RemoveMenuItem, `{"item":"about"}`)
	require.Equal(t, []string{"Home"}, labels())
	undo()
	require.Equal(t, []string{"About", "Home"}, labels())
	b.fails(tools.Failed, RemoveMenuItem, `{"item":"Blog"}`, `no item "Blog"; it has About, Home`)
}

func TestATitleSaysInWordsWhatACallDoes(t *testing.T) {
	b := newBench(t)
	for _, c := range [][3]string{
		{CreatePage, `{"name":"About"}`, "Create page “About”"},
		{UpdatePage, `{"page":"pg_home","status":"published"}`, "Publish page “Home” at /"},
		{UpdatePage, `{"page":"home","newSlug":"start"}`, "Change the address of page “Home” at / to /start"},
		{UpdatePage, `{"page":"home","name":"Start"}`, "Rename page “Home” at / to “Start”"},
		{UpdatePage, `{"page":"home","name":"Start","newSlug":"start","status":"draft","description":"x"}`,
			"Update page “Home” at /: name “Start”, address /start, offline, a draft, description"},
		{UpdatePage, `{"page":"home","indexing":false}`, "Update page “Home” at /: hidden from search engines"},
		{CreatePage, `{"name":"About","slug":"us","status":"published"}`, "Create page “About”: address /us, published"},
		{DeletePage, `{"page":"nowhere"}`, "Delete page “nowhere” at /nowhere"},
		{AddSection, `{"page":"home","section":"text"}`, "Add section “Text” to page “Home” at /"},
		{UpdateSection, `{"sectionId":"sec_home_hero","sortOrder":1}`, "Move the hero “Welcome to local-site” of page “Home” at / to place 2"},
		{UpdateSection, `{"sectionId":"sec_home_hero","sortOrder":1,"status":"unpublished"}`,
			"Change the hero “Welcome to local-site” of page “Home” at /: to place 2, hidden"},
		{RemoveSection, `{"sectionId":"sec_home_hero"}`, "Remove the hero “Welcome to local-site” of page “Home” at /"},
		{UpsertEntry, `{"collection":"blog","title":"News"}`, "Write entry “News”"},
		{UpsertEntry, `{"collection":"blog","entry":"hello-world","title":"Hi","status":"draft"}`,
			"Write entry “Hello, world”: title “Hi”, offline, a draft"},
		{AddMenuItem, `{"page":"home","label":"Start","position":0}`,
			"Put page “Home” at / into the menu: as “Start”, at place 1"},
		{AddPicture, `{"page":"home","section":"sec_home_hero","media":"shop.jpg"}`,
			"Put the picture “shop.jpg” on page “Home” at /: in the hero “Welcome to local-site”"},
	} {
		d, _ := b.reg.Lookup(c[0])
		require.Equal(t, c[2], d.Title(t.Context(), json.RawMessage(c[1])))
	}
}

// What a description says of a property names no value that its schema refuses.
func TestDescriptionsAgreeWithTheirEnums(t *testing.T) {
	b := newBench(t)
	type property struct {
		Description string
		Enum        []any
	}
	var all []property
	values := map[string]bool{}
	for _, d := range b.reg.All() {
		var s struct{ Properties map[string]property }
		require.NoError(t, json.Unmarshal(d.Tool().Schema, &s))
		for _, p := range s.Properties {
			for _, v := range p.Enum {
				values[fmt.Sprint(v)] = true
			}
			if len(p.Enum) > 0 {
				all = append(all, p)
			}
		}
	}
	require.True(t, values["draft"] && values["unpublished"])
	for _, p := range all {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(p.Description, -1) {
			wrong := values[word] && !slices.Contains(p.Enum, any(word))
			require.False(t, wrong, "%q isn't in %v: %s", word, p.Enum, p.Description)
		}
	}
}

func TestEveryToolOfTheTableExistsAndIsDescribed(t *testing.T) {
	b := newBench(t)
	for name, r := range theTable().Tools {
		_, ok := b.reg.Lookup(name)
		require.True(t, ok, name)
		require.NotEmpty(t, r.Does, name)
	}
}

func TestARepeatedCallHasItsEffectOnce(t *testing.T) {
	b := newBench(t)
	for _, c := range [][2]string{{AddSection, `{"page":"home","section":"text","content":{"body":"B"}}`},
		{RemoveSection, `{"sectionId":"sec_home_hero"}`}, {ClonePage, `{"source":"home","newSlug":"start"}`},
		{DeletePage, `{"page":"home"}`}} {
		d, _ := b.reg.Lookup(c[0])
		var first string
		for range 2 {
			call := &tools.Call{Name: c[0], Input: json.RawMessage(c[1]), IdempotencyKey: "r-1 " + c[0]}
			require.Nil(t, b.reg.Readmit(call))
			out := tools.Execute(t.Context(), d, call, nil)
			require.Equal(t, tools.OK, out.Status, said(&out))
			if first == "" {
				first = said(&out)
			}
			require.JSONEq(t, first, said(&out))
		}
	}
}
