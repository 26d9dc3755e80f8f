package model

import (
	"fmt"
	"maps"
	"slices"
)

// About says what the script is.
const About = "This stand-in is a script, not a model: it knows some fifteen requests, which help lists; with " +
	"OPENAI_API_KEY and OPENAI_MODEL, or the variables of another provider (examples/cms/README.md has them), a model " +
	"understands any sentence."

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

// help lists the requests as they can be said now, with the name of a page that exists.
func (t *turn) help(*request) (string, error) {
	name, err := t.aPage()
	if err != nil {
		return "", err
	}
	said := About + " These it knows, also in other words and with any names and texts:"
	for _, request := range []string{"What pages exist?", "Show " + name,
		"Create a page called Team with a hero titled Hello", "Create a contact page with a form",
		"Rename " + name + " to Welcome", "Change the headline of " + name + ` to "Good morning"`,
		"Add a text section to " + name + ` that says "We open at seven."`,
		"Describe " + name + " as offers, prices", "Change the address of " + name + " to new-address",
		"Publish " + name, "Take " + name + " offline", "Delete " + name, "Find " + name, "Undo the last change"} {
		said += "\n- `" + request + "`"
	}
	if t.file != "" {
		said += fmt.Sprintf("\n- `Put \"%s\" on %s`", t.file, name)
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		said += "\n- `Run the scenario \"" + name + "\"`"
	}
	return said, nil
}

// unknown is the answer to what isn't a request. What was done before isn't taken back by it.
func (t *turn) unknown() (string, error) {
	help, err := t.help(nil)
	said := "I don't know this request, so I changed nothing."
	if t.file != "" {
		said = "The file is in the media library. " + said
	}
	if n := len(t.before); n > 0 && changed(t.before[n-1]) {
		said += " What was done before stays.\n- `Undo the last change`"
	}
	return said + "\n\n" + help, err
}
