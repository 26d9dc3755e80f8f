package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
)

// Ordinary conversations with a model that does well go well: nothing else happens, and people are
// asked what they have to be asked, and nothing else.
func TestConversationsGoWell(t *testing.T) {
	t.Parallel()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	for _, talk := range consenttest.Talks(t, "testdata/talks.txt") {
		t.Run(talk.Name, func(t *testing.T) {
			t.Parallel()
			model := &consenttest.Speaker{}
			server := httptest.NewServer(model)
			defer server.Close()
			env := func(name string) string {
				return map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.URL,
					"OPENAI_MODEL": "m"}[name]
			}
			o, err := readOptions([]string{"-db", newBench(t).db}, env, t.Output())
			require.NoError(t, err)
			p, err := o.open("", t.Output())
			require.NoError(t, err)
			defer func() { require.NoError(t, p.close()) }()
			h := talked{p, t}
			model.Ref = h.ref
			judged, err := consenttest.Hold(talk, model, h)
			require.NoError(t, err)
			t.Logf("the model judged %d calls", judged)
		})
	}
}

// A talked program is what a talk is held with.
type talked struct {
	*program
	t *testing.T
}

const talkSession = "s"

func (h talked) Send(turn *consenttest.Turn) error {
	session := h.hub.Agent().Session(talkSession)
	if turn.Click { // nothing else can be clicked
		_, err := session.Undo(h.t.Context(), agent.Rollback{User: user})
		return err
	}
	mode, _ := cmstools.ModeNamed(turn.Mode)
	started, err := h.hub.Start(h.t.Context(), agent.Input{User: user, Session: talkSession, Prompt: turn.Text,
		Supersede: true, Mode: mode.Name, Labels: assistant.Screen(turn.On)})
	if err == nil {
		<-started.Done
	}
	return err
}

func (h talked) Decide(d agent.Decision) {
	started, err := h.hub.Decide(h.t.Context(), talkSession, d.By(user))
	require.NoError(h.t, err)
	<-started.Done
}

func (h talked) Stop() {
	require.NoError(h.t, h.hub.Cancel(h.t.Context(), talkSession))
}

func (h talked) Pending() []agent.Pause {
	p, err := h.hub.Agent().Session(talkSession).Pending(h.t.Context())
	if fault.Of(err) != fault.NotFound {
		require.NoError(h.t, err)
	}
	return p
}

// ref returns the id of a section, such as home/hero; "home/hero 2" is the second one.
func (h talked) ref(name string) string {
	slug, key, _ := strings.Cut(name, "/")
	nth := 1
	_, _ = fmt.Sscanf(key, "%s %d", &key, &nth) // most have no number
	p, err := h.site.GetPage(h.t.Context(), slug, "")
	if err != nil {
		return err.Error()
	}
	for _, s := range p.Sections {
		if s.Section == key {
			if nth--; nth == 0 {
				return s.ID
			}
		}
	}
	return "none"
}

// State says in lines what is on the site.
func (h talked) State() (lines []string) {
	pages, err := h.site.ListPages(h.t.Context(), site.Query{Limit: 200})
	require.NoError(h.t, err)
	for _, summary := range pages.Items {
		for _, locale := range []string{"", "de"} {
			p, err := h.site.GetPage(h.t.Context(), summary.ID, locale)
			require.NoError(h.t, err)
			var keys []string
			for _, s := range p.Sections {
				key := s.Section
				if s.Status != site.Published {
					key = "(" + key + ")"
				}
				keys = append(keys, key)
				lines = append(lines, slotLines(strings.TrimSpace(p.Slug+"/"+s.Section+" "+locale), s.Content)...)
			}
			if locale == "" {
				lines = append(lines, strings.TrimSuffix(fmt.Sprintf("page %s: %s, %s, %s", p.Slug, p.Name, p.Status,
					strings.Join(keys, " ")), ", "), "page "+p.Slug+" description="+p.Description)
			}
		}
	}
	entries, err := h.site.ListEntries(h.t.Context(), site.ListEntries{Collection: "blog",
		Query: site.Query{Limit: 200}})
	require.NoError(h.t, err)
	for _, e := range entries.Items {
		e, err := h.site.GetEntry(h.t.Context(), e.ID, "")
		require.NoError(h.t, err)
		lines = append(append(lines, fmt.Sprintf("entry %s: %s, %s", e.Slug, e.Title, e.Status)),
			slotLines(e.Slug, e.Content)...)
	}
	menus, err := h.site.ListNavigations(h.t.Context())
	require.NoError(h.t, err)
	var items []string
	for _, i := range menus[0].Items {
		items = append(items, i.Value)
	}
	return append(lines, "menu: "+strings.Join(items, ", "))
}

// slotLines returns a line for each slot. That of a picture has its id.
func slotLines(of string, slots map[string]any) (lines []string) {
	for _, key := range slices.Sorted(maps.Keys(slots)) {
		v := slots[key]
		if picture, ok := v.(map[string]any); ok && picture["id"] != nil {
			v = picture["id"]
		}
		lines = append(lines, fmt.Sprintf("%s %s=%v", of, key, v))
	}
	return lines
}
