package model

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

var (
	sentenceFile = flag.String("sentences", "", "a file of sentences to try, instead of the lists of testdata")
	full         = flag.Bool("full", false, "try all sentences of testdata instead of every eighth")
)

// A trial is a site on which sentences are tried. All approvals are given.
type trial struct {
	t    testing.TB
	site *site.Site
	reg  *tools.Registry
	req  provider.Request // the conversation
	mode string
	// decide is what a person answers where an approval is asked for; empty: approved
	decide string
}

// furnished is the file of a site as the lists of sentences describe it. Tests copy it, because
// making one takes longer than most of them.
var furnished []byte

// newTrial returns a site as the lists of sentences describe it.
func newTrial(t testing.TB) *trial {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.db")
	if furnished == nil {
		s, err := site.Open(path)
		require.NoError(t, err)
		(&trial{t: t, site: s}).furnish()
		require.NoError(t, s.Close())
		furnished, err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(path, furnished, 0o600))
	s, err := site.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	reg, err := tools.NewRegistry(cmstools.All(cmstools.Config{Site: s, Preview: "http://localhost:4000"})...)
	require.NoError(t, err)
	b := &trial{t: t, site: s, reg: reg, mode: cmstools.CRUD}
	for _, d := range reg.All() {
		if d.Name() != cmstools.ValidatePlan {
			b.req.Tools = append(b.req.Tools, provider.Tool{Name: d.Name()})
		}
	}
	return b
}

// furnish makes the pages and the entries of the lists; the picture is there.
func (b *trial) furnish() {
	b.t.Helper()
	ctx, t := b.t.Context(), b.t
	pages, err := b.site.ListPages(ctx, site.Query{})
	require.NoError(t, err)
	for _, p := range pages.Items {
		if p.Slug != "home" {
			_, err := b.site.DeletePage(ctx, p.Slug)
			require.NoError(t, err)
		}
	}
	entries, err := b.site.ListEntries(ctx, site.ListEntries{Collection: "blog"})
	require.NoError(t, err)
	for _, e := range entries.Items {
		_, err := b.site.DeleteEntry(ctx, e.ID)
		require.NoError(t, err)
	}
	home, err := b.site.GetPage(ctx, "home", "")
	require.NoError(t, err)
	for _, sec := range home.Sections {
		_, err := b.site.RemoveSection(ctx, sec.ID)
		require.NoError(t, err)
	}
	for _, p := range []site.CreatePage{{Name: "About", Sections: []site.NewSection{
		{Section: "hero", Content: map[string]any{"title": "About us"}},
		{Section: "text", Content: map[string]any{"body": "We are a small firm."}},
		{Section: "gallery", Content: map[string]any{"heading": "Pictures"}}}},
		{Name: "Services"}, {Name: "Contact"}, {Name: "Blog", Sections: []site.NewSection{
			{Section: "entries", Content: map[string]any{"collection": map[string]any{"collectionId": "col_blog"}}}}}} {
		_, err := b.site.CreatePage(ctx, p)
		require.NoError(t, err)
	}
	published := site.Published
	for _, slug := range []string{"about", "contact", "blog"} {
		_, err := b.site.UpdatePage(ctx, site.UpdatePage{Page: slug, Status: &published})
		require.NoError(t, err)
	}
	for _, sec := range []site.AddSection{{Page: "home", Section: "hero", Content: map[string]any{"title": "Welcome"}},
		{Page: "home", Section: "text", Content: map[string]any{"body": "Come in and look around."}},
		{Page: "home", Section: "quote", Content: map[string]any{"text": "They are the best.",
			"author": "A customer"}}} {
		_, err := b.site.AddSection(ctx, sec)
		require.NoError(t, err)
	}
	for _, title := range []string{"Spring sale", "We moved"} {
		_, err := b.site.UpsertEntry(ctx, site.UpsertEntry{Collection: "blog", Title: title,
			Content: map[string]any{"body": title + "!"}})
		require.NoError(t, err)
	}
}

// state returns what an editor sees of the site, in lines.
func (b *trial) state() (lines []string) {
	b.t.Helper()
	ctx := b.t.Context()
	pages, err := b.site.ListPages(ctx, site.Query{Limit: 200})
	require.NoError(b.t, err)
	value := func(v any) string {
		raw, err := json.Marshal(v)
		require.NoError(b.t, err)
		if m, ok := v.(map[string]any); ok && m["url"] != nil {
			return "picture"
		}
		if list, ok := v.([]any); ok {
			return fmt.Sprint(len(list), " pictures")
		}
		return string(raw)
	}
	for _, p := range pages.Items {
		page, err := b.site.GetPage(ctx, p.Slug, "")
		require.NoError(b.t, err)
		var kinds []string
		count := map[string]int{}
		for _, s := range page.Sections {
			count[s.Section]++
			name := s.Section
			if count[s.Section] > 1 {
				name += fmt.Sprint(count[s.Section])
			}
			if s.Status != site.Published {
				name += " (hidden)"
			}
			kinds = append(kinds, name)
			for _, key := range slices.Sorted(maps.Keys(s.Content)) {
				lines = append(lines, fmt.Sprintf("%s/%s.%s=%s", p.Slug, name, key, value(s.Content[key])))
			}
		}
		lines = append(lines, fmt.Sprintf("page %s %q %s %q", p.Slug, p.Name, page.Status, page.Description),
			fmt.Sprintf("sections %s: %s", p.Slug, strings.Join(kinds, " ")))
	}
	entries, err := b.site.ListEntries(ctx, site.ListEntries{Collection: "blog"})
	require.NoError(b.t, err)
	for _, e := range entries.Items {
		full, err := b.site.GetEntry(ctx, e.ID, "")
		require.NoError(b.t, err)
		lines = append(lines, fmt.Sprintf("entry %s %q %s %v", e.Slug, e.Title, e.Status, full.Content["body"]))
	}
	navigations, err := b.site.ListNavigations(ctx)
	require.NoError(b.t, err)
	for _, n := range navigations {
		for _, item := range n.Items {
			lines = append(lines, fmt.Sprintf("menu %s %s", n.Name, item.Value))
		}
	}
	return lines
}

// say says a sentence, carries out all calls as if a person had approved them, and returns the
// answer.
func (b *trial) say(sentence string) (answer string, asked []string) {
	b.t.Helper()
	b.req.Messages = append(b.req.Messages, provider.User(sentence))
	for range 30 {
		resp, err := provider.Generate(b.t.Context(), New(), &b.req)
		require.NoError(b.t, err, sentence)
		if len(resp.Calls()) == 0 {
			b.req.Messages = append(b.req.Messages, provider.Assistant(resp.Text()))
			return resp.Text(), asked
		}
		var made, came provider.Message
		made.Role, came.Role = provider.RoleAssistant, provider.RoleTool
		for i, c := range resp.Calls() {
			c.ID = fmt.Sprintf("c%d.%d", len(b.req.Messages), i)
			made.Parts = append(made.Parts, provider.Part{Kind: provider.PartToolCall, Call: c})
			text, failed, asks := b.call(c)
			if asks {
				asked = append(asked, c.Name)
			}
			came.Parts = append(came.Parts, provider.ResultPart(provider.ToolResult{CallID: c.ID, Name: c.Name,
				Error: failed,
				Parts: []provider.Part{provider.TextPart(text)}}))
		}
		b.req.Messages = append(b.req.Messages, made, came)
	}
	require.Fail(b.t, "no end", sentence)
	return "", nil
}

func (b *trial) call(c *provider.ToolCall) (text string, failed, asks bool) {
	call := &tools.Call{Name: c.Name, Input: c.Input, Mode: b.mode}
	a, err := b.reg.Admit(b.t.Context(), call, nil, nil, nil)
	require.NoError(b.t, err, "%s %s", c.Name, c.Input)
	if b.decide != "" && a.Verdict.Effect == tools.Ask {
		return b.decide, true, true
	}
	out := a.Rejected
	if out == nil {
		out = b.reg.Recheck(b.t.Context(), call, nil)
	}
	if out == nil {
		done := tools.Execute(b.t.Context(), a.Definition, call, nil)
		out = &done
	}
	for _, p := range out.Parts {
		text += p.Text
	}
	return text, out.Status != tools.OK, a.Verdict.Effect == tools.Ask
}

// changes returns the lines that went and those that came.
func changes(before, after []string) (diff []string) {
	for _, line := range before {
		if !slices.Contains(after, line) {
			diff = append(diff, "-"+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			diff = append(diff, "+"+line)
		}
	}
	return diff
}

func TestSentencesOfEditorsDoWhatTheySay(t *testing.T) {
	files := []string{"testdata/sentences.txt", "testdata/more.txt", "testdata/mended.txt"}
	if *sentenceFile != "" {
		files = []string{*sentenceFile}
	}
	effects := map[string]string{}
	golden, err := os.ReadFile("testdata/effects.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(golden)) {
		sentence, effect, _ := strings.Cut(line, " =>")
		effects[sentence] = strings.TrimSpace(effect)
	}
	b := newTrial(t)
	before, number := b.state(), 0
	for _, name := range files {
		list, err := os.ReadFile(name)
		require.NoError(t, err)
		count := map[string]map[string]int{}
		for line := range strings.Lines(string(list)) {
			columns := strings.Split(strings.TrimSpace(line), " | ")
			if number++; len(columns) != 3 || *sentenceFile == "" && !*full && number%8 != 0 {
				continue
			}
			kind, sentence := columns[0], columns[1]
			b.req.Messages = nil
			if strings.Contains(columns[2], "undone") || strings.Contains(columns[2], "last change") {
				b.say("Rename About to Firm")
			}
			answer, asked := b.say(sentence)
			diff := changes(before, b.state())
			effect := strings.TrimSpace(strings.Join(diff, "; "))
			offers := strings.Count(answer, "\n- `")
			want, known := effects[sentence]
			outcome := "wrong"
			switch {
			case known && effect == want, !known && effect == "" && kind != "do" && kind != "several" && kind != "typo":
				outcome = "right"
			case effect == "" && offers > 0:
				outcome = "offered"
			case effect == "":
				outcome = "nothing"
			}
			if kind == "unclear" && effect == "" && offers == 0 {
				outcome = "nothing"
			}
			if count[kind] == nil {
				count[kind] = map[string]int{}
			}
			count[kind][outcome]++
			count[kind]["all"]++
			short := strings.ReplaceAll(answer, "\n", " ")
			t.Logf("%s\t%s\t%s\t=> %s\t[%s]\t%.150s", outcome, kind, sentence, effect, strings.Join(asked, " "), short)
			if len(diff) > 0 {
				b = newTrial(t)
			}
		}
		total := map[string]int{}
		t.Logf("%-9s %5s %5s %7s %7s %5s", name, "all", "right", "offered", "nothing", "wrong")
		for _, kind := range slices.Sorted(maps.Keys(count)) {
			c := count[kind]
			t.Logf("%-9s %5d %5d %7d %7d %5d", kind, c["all"], c["right"], c["offered"], c["nothing"], c["wrong"])
			for outcome, n := range c {
				total[outcome] += n
			}
		}
		t.Logf("%-9s %5d %5d %7d %7d %5d", "total", total["all"], total["right"], total["offered"],
			total["nothing"], total["wrong"])
	}
}
