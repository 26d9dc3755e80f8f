package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhrasesAreUnderstood(t *testing.T) {
	for text, want := range map[string][]string{
		"Create an About page with a hero section titled Hello": {
			"createPage name=About section=hero title=Hello"},
		"create a page called About": {"createPage name=About"},
		"create an über uns page":    {"createPage name=Über uns"},
		"please make me a new page named “About us”, with a hero titled Hi": {
			"createPage name=About us section=hero title=Hi"},
		"Could you create a page named “About us”, with a hero section, please?": {
			"createPage name=About us section=hero"},
		`create a page called "Terms with care" with slug terms`: {"createPage name=Terms with care slug=terms"},
		`create a contact page with the description "How to reach us"`: {
			"createPage description=How to reach us name=Contact"},
		"create a page with a hero section titled Hello":   {"?"}, // no name
		"create a page called X with three columns":        {"?"}, // would be ignored
		"create a page called Start in German":             {"createPage locale=de name=Start"},
		"list pages":                                       {"listPages"},
		"Show me all the pages":                            {"listPages"},
		"what pages are there?":                            {"listPages"},
		"list the entries of the blog":                     {"listEntries collection=blog"},
		"list section definitions":                         {"listSections"},
		"show page About":                                  {"getPage page=About"},
		"show me the About page, please":                   {"getPage page=About"},
		"get About in German":                              {"getPage locale=de page=About"},
		"show the blog entry hello-world":                  {"getEntry entry=hello-world"},
		"preview it":                                       {"previewPage"},
		`find "the team"`:                                  {"findResource what=the team"},
		"where is the imprint?":                            {"findResource what=imprint"},
		"fetch https://example.com/a.txt":                  {"http.fetch url=https://example.com/a.txt"},
		"Rename About to About us":                         {"updatePage page=About to=About us"},
		"rename the page 'About to go' to Gone":            {"updatePage page=About to go to=Gone"},
		"rename it to Old about instead":                   {"updatePage to=Old about"},
		"rename the entry hello-world to Hello":            {"getEntry entry=hello-world title=Hello"},
		"change the slug of About to about-us":             {"updatePage page=About to=about-us"},
		"describe the Members page as team, people, staff": {"updatePage page=Members to=team, people, staff"},
		"Delete abuot":                                     {"deletePage page=abuot"},
		"Delete it!":                                       {"deletePage"},
		`delete "Letters from home"`:                       {"deletePage page=Letters from home"},
		"remove the hero from home":                        {"getPage page=home section=hero"},
		"remove the banner section from the home page":     {"getPage page=home section=banner"},
		"delete the blog entry hello-world":                {"deleteEntry entry=hello-world"},
		`add a text section titled "News" saying "We are open." to the Home page`: {
			"addSectionToPage body=We are open. page=Home section=text title=News"},
		"add a hero section to About titled Hello": {
			"addSectionToPage page=About section=hero title=Hello"},
		"hide the hero on Home": {"getPage page=Home section=hero status=hide"},
		"publish About":         {"?"},
		"Update the title on my team page to Meet Our Team": {
			"syncPageContents page=team value=Meet Our Team"},
		`set the title of the hero on Home to "Welcome, friends"`: {
			"syncPageContents page=Home value=Welcome, friends"},
		`write a blog post titled "First steps" saying "It works."`: {
			"upsertEntry body=It works. title=First steps"},
		`set the body of the blog entry hello-world to "New text"`: {
			"getEntry body=New text entry=hello-world"},
		"Create an About page and then preview it": {"createPage name=About",
			"previewPage"},
		"Create a page called X. Delete it.": {"createPage name=X",
			"deletePage"},
		"create a page called X and add a hero section titled Hello to it; then list pages": {"createPage name=X",
			"addSectionToPage section=hero title=Hello", "listPages"},
		"sing a song":              {"?"},
		`"create a page called X"`: {"?"},
		"create":                   {"?"},
		"rename About":             {"?"},
		"set the title to Hello":   {"?"}, // of what
	} {
		var got []string
		for _, r := range requests(text) {
			if r.scenario == nil {
				got = append(got, "?")
				continue
			}
			said := strings.TrimPrefix(r.scenario.calls[0].tool, "cms.")
			for _, slot := range []string{"body", "collection", "description", "entry", "locale", "name", "page",
				"section", "slug", "status", "title", "to", "url", "value", "what"} {
				if v := r.slots[slot]; v != nil && v != "" {
					said += fmt.Sprintf(" %s=%v", slot, v)
				}
			}
			got = append(got, said)
		}
		require.Equal(t, want, got, text)
	}
}

func FuzzRequests(f *testing.F) {
	for _, s := range []string{"create a page called X", `set the title of "a b" to 'c'`, "a's 's '", `"`, "''", "x's",
		"rename to", ". , ;", "add a section to", "in in de", "\ue0009\ue001"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) { requests(text) }) // must not panic
}
