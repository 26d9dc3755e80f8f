package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// About says what the script is.
const About = "This stand-in is a script, not a model: it knows some fifteen requests, which help lists; with " +
	"OPENAI_API_KEY and OPENAI_MODEL, or the variables of another provider (examples/cms/README.md has them), a model " +
	"understands any sentence."

// key says how a model answers instead.
const key = "A model understands any sentence. End the program, and start it with OPENAI_API_KEY and OPENAI_MODEL, or " +
	"with the variables of another provider, which examples/cms/README.md has."

// aPage returns the name of a page that exists, rather not that of the start page.
func (t *turn) aPage() (string, error) {
	if !t.offered["cms.listPages"] {
		return "Home", nil
	}
	all, err := t.pages()
	for _, p := range all.Items {
		if p.Slug == "home" {
			continue
		}
		if plain(p.Name, false) {
			return p.Name, err
		}
		return p.Slug, err
	}
	return "Home", err
}

// groups are the requests by what they are for. {page} is a page that exists.
var groups = []struct {
	title    string
	requests []string
}{
	{"Look at the site:", []string{"What pages exist?", "Show {page}", "Find {page}"}},
	{"Make pages:", []string{"Create a page called Team with a hero titled Hello",
		"Create a contact page with a form"}},
	{"Change a page:", []string{`Change the headline of {page} to "Good morning"`,
		`Add a text section to {page} that says "We open at seven."`, "Rename {page} to Welcome",
		"Change the address of {page} to new-address", "Describe {page} as offers, prices"}},
	{"Say what visitors see:", []string{"Publish {page}", "Take {page} offline", "Delete {page}",
		"Undo the last change"}},
}

// help lists the requests as they can be said now, with the name of a page that exists.
func (t *turn) help(*request) (string, error) {
	name, err := t.aPage()
	if err != nil {
		return "", err
	}
	said := "I'm a script, not a model. I know these requests, also in other words and with any names and texts. " +
		"Each works alone, and none of them costs anything."
	if t.file != "" {
		said += fmt.Sprintf("\n\nUse the file:\n- `Put \"%s\" on %s`", t.file, name)
	}
	for _, g := range groups {
		said += "\n\n" + g.title + list(name, g.requests...)
	}
	said += "\n\nSee what happens when something goes wrong, or takes long:"
	for _, scenario := range slices.Sorted(maps.Keys(scenarios)) {
		said += list(name, `Run the scenario "`+scenario+`"`)
	}
	return said + "\n\n" + key, nil
}

// list returns requests as a list, whose items the page shows as buttons.
func list(page string, requests ...string) (said string) {
	for _, request := range requests {
		said += "\n- `" + strings.ReplaceAll(request, "{page}", page) + "`"
	}
	return said
}

// some returns a few of the requests, for somebody whose words aren't one of them.
func (t *turn) some() (string, error) {
	name, err := t.aPage()
	return "I'm a script, not a model: I know some fifteen requests, in common wordings. These are some of them, and " +
		"“Help” lists all." + list(name, "What pages exist?", "Create a page called Team with a hero titled Hello",
		`Change the headline of {page} to "Good morning"`, "Publish {page}", "Help"), err
}

// unknown is the answer to what isn't a request. What was done before isn't taken back by it.
func (t *turn) unknown() (string, error) {
	some, err := t.some()
	said := "I don't know this request, so I changed nothing."
	if t.file != "" {
		name, _ := t.aPage()
		said = "The file is in the media library. " + said + list(name, fmt.Sprintf("Put \"%s\" on {page}", t.file))
	}
	if n := len(t.before); n > 0 && changed(t.before[n-1]) {
		said += " What was done before stays." + list("", "Undo the last change")
	}
	return said + "\n\n" + some, err
}
