package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
)

// do carries out a request, and returns what came of it.
func (t *turn) do(r *request) (string, error) {
	if r.values["page"] != "" {
		if err := t.findPage(r); err != nil {
			return "", err
		}
	}
	if field, ok := fields[r.values["field"]]; ok {
		r.values["kind"], r.values["slot"] = field[0], field[1]
	} else if kind := r.values["kind"]; kind != "" {
		r.values["slot"] = cmp.Or(slots[kind], "title") // without a text it is the name of the page
		r.values["text"] = cmp.Or(r.values["text"], r.values["name"], r.values["page"])
	}
	if strings.Contains(encoded(r.input), "$section") {
		if err := t.findSection(r); err != nil {
			return "", err
		}
	}
	if r.run != nil {
		return r.run(t, r)
	}
	t.instead = r.text(r.instead)
	result, err := t.call(r.text(r.doing), r.tool, r.fill(r.input).(values))
	r.values["result"] = result
	return r.text(r.done), err
}

// path is the address of a page.
func path(slug string) string {
	if slug == "home" {
		slug = ""
	}
	return "/" + slug
}

// findPage finds the page of a request. Unless the name is that of one page, it asks.
func (t *turn) findPage(r *request) error {
	name := r.values["page"]
	found := func(slug, name string) error {
		r.values["slug"], r.values["path"], r.values["page"] = slug, path(slug), name
		return nil
	}
	if slug := t.made[strings.ToLower(name)]; slug != "" {
		return found(slug, name)
	}
	text, err := t.call("look up "+name, "cms.findResource", values{"query": name, "kind": "page"})
	if err != nil {
		return err
	}
	near := slices.DeleteFunc(index.Lines(text), func(l index.Line) bool {
		return l.Kind != "page" || len(l.Aliases) == 0
	})
	same := slices.DeleteFunc(slices.Clone(near), func(l index.Line) bool { return !strings.EqualFold(l.Name, name) })
	for _, l := range near {
		if strings.EqualFold(l.Aliases[0], strings.TrimPrefix(name, "/")) || len(same) == 1 && same[0].ID == l.ID {
			return found(l.Aliases[0], l.Name)
		}
	}
	if len(near) == 0 || len(strings.Fields(name)) > 3 {
		some, err := t.some()
		return cmp.Or(err, error(ending(fmt.Sprintf("There is no page %q.\n\n%s", name, some))))
	}
	question := fmt.Sprintf("I'm not sure which page is %q. Do you mean %s?", name, near[0].Name)
	for i, l := range near {
		if said := r.with(l.Aliases[0]); (i == 0 || l.Match == index.MatchRival) &&
			!strings.ContainsAny(said, "`\n") {
			question += "\n- `" + said + "`"
		}
	}
	return ending(question)
}

// A section is one of a page, as tools return it.
type section struct {
	ID, Section string
	Content     values
	Before      values // of a section that was changed
}

// sections returns the sections of the page of a request that are of its kind.
func (t *turn) sections(r *request) (all []section, err error) {
	text, err := t.call("read the page "+r.values["page"], "cms.getPage", values{"page": r.values["slug"]})
	return slices.DeleteFunc(sectionsOf(text), func(s section) bool { return s.Section != r.values["kind"] }), err
}

// sectionsOf returns the sections in a result.
func sectionsOf(result string) []section {
	var p struct{ Sections []section }
	_ = json.Unmarshal([]byte(result), &p) // another result has none
	return p.Sections
}

// findSection finds the section of a request. The title of a page without a hero is its name.
func (t *turn) findSection(r *request) error {
	all, err := t.sections(r)
	switch {
	case err != nil:
		return err
	case len(all) == 1:
		r.values["section"] = all[0].ID
	case len(all) == 0 && r.values["field"] == "title":
		r.form = read(`Rename X to Y`)[0].form
	default:
		r.values["count"] = fmt.Sprint(len(all))
		return ending(r.text("The page {page} has {count} sections of the kind {kind}, not one."))
	}
	return nil
}

func showSection(t *turn, r *request) (string, error) {
	all, err := t.sections(r)
	said := fmt.Sprintf("The page %s, sections of the kind %s: %d", r.values["page"], r.values["kind"], len(all))
	for _, s := range all {
		for _, key := range slices.Sorted(maps.Keys(s.Content)) {
			if text, ok := s.Content[key].(string); ok {
				said += "\n- " + key + ": " + text
			}
		}
	}
	return said, err
}

// ids are what a preview has for models: the ids of sections, and of a collection.
var ids = regexp.MustCompile(`(?m) \[sec_\w+\]$| \(sec_\w+\)|^collection: col_\w+\n`)

// heading and slot are lines of a preview: the name of a section, and what is in it.
var (
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
	slot    = regexp.MustCompile(`(?m)^(\w+):(?: |$)`)
)

// showPage shows a page as a person reads it: its sections, with a list of their contents.
func showPage(t *turn, r *request) (string, error) {
	text, err := t.call(r.text("preview the page {page}"), "cms.previewPage", values{"page": r.values["slug"]})
	_, text, _ = strings.Cut(ids.ReplaceAllString(text, ""), "\n") // the first line is its name
	text, notes, _ := strings.Cut(text, "\nNote: ")
	if notes != "" {
		notes = "\n\nNote: " + notes
	}
	text, link, _ := strings.Cut(text, "\n\nPreview: ")
	if link != "" {
		notes += "\n\nPreview: " + link
	}
	text = heading.ReplaceAllString(slot.ReplaceAllString(text, "- $1: "), "$1:")
	return r.text("The page {page} is at {path}. Visitors see this:\n") + text + notes, err
}

// pages returns the pages of the site, 50 at most, and how many there are.
func (t *turn) pages() (all struct {
	Total int
	Items []struct {
		Slug, Name, Status string
		Sections           int
	}
}, err error) {
	text, err := t.call("list the pages", "cms.listPages", values{})
	_ = json.Unmarshal([]byte(text), &all) // without a result there are none
	return all, err
}

func listPages(t *turn, _ *request) (string, error) {
	all, err := t.pages()
	said := fmt.Sprint("Pages: ", all.Total)
	for _, p := range all.Items {
		said += fmt.Sprintf("\n- %s (%s), sections: %d", p.Name, path(p.Slug), p.Sections)
		if p.Status == "draft" {
			said += ", a draft"
		}
	}
	return said, err
}

func find(t *turn, r *request) (string, error) {
	text, err := t.call(r.text("look up {query}"), "cms.findResource", values{"query": r.values["query"]})
	said := ""
	for _, l := range index.Lines(text) {
		said += fmt.Sprintf("\n- the %s %q: %s, %s", l.Kind, l.Name, l.Match, l.Why)
	}
	return r.text("I looked for {query}, and found ") + cmp.Or(said, "nothing."), err
}

var taken = regexp.MustCompile(`^a page with the address "([^"]+)" exists.*such as "([^"]+)"`)

// createPage creates a page. If its address is taken, it takes the free one that the error names.
func createPage(t *turn, r *request) (string, error) {
	name, was := r.values["name"], ""
	if r.values["kind"] == "form" && t.offered["plan.choose"] && t.offered["cms.createPage"] {
		return t.choose(r)
	}
	input, with := values{"name": name}, ""
	if r.values["kind"] != "" {
		input["sections"] = r.fill([]any{values{"section": "$kind", "content": values{"$slot": "$text"}}})
		with = r.text(", with a section {kind}: “{text}”")
	}
	text, err := t.call("create the page "+name, "cms.createPage", input)
	if free := taken.FindStringSubmatch(text); err != nil && free != nil {
		was, input["slug"] = "The address /"+free[1]+" was taken. ", free[2]
		text, err = t.call("create the page "+name, "cms.createPage", input)
	}
	slug := fmt.Sprint(cmp.Or(object(text)["slug"], any(slugged(name))))
	t.made[strings.ToLower(name)] = slug
	return fmt.Sprintf("%sThe page %s is at %s%s. It is a draft until you publish it.", was, name, path(slug),
		with), err
}

// slugged is the address that a page gets in a plan.
func slugged(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// hundred reads the kinds of sections a hundred times, six times a step. How often it has is in the
// inputs of the calls that the conversation still has, also after it was shortened.
func hundred(t *turn, _ *request) (string, error) {
	done := 100
	for _, c := range t.past {
		if limit, _ := c.input["limit"].(float64); c.tool == "cms.listSections" {
			done = max(done, int(limit))
		}
	}
	t.doing = "read the kinds of sections again"
	for n := range min(6, 200-done) {
		t.next = append(t.next, call{tool: "cms.listSections", input: values{"limit": done + n + 1}})
	}
	if len(t.next) > 0 {
		return "", errNext
	}
	return "I made a hundred calls.", nil
}

// undo makes the opposite calls of the last message that has changed something.
func undo(t *turn, _ *request) (string, error) {
	i := len(t.before) - 1
	for i >= 0 && !changed(t.before[i]) {
		i--
	}
	if i < 0 {
		return "There is nothing to undo in this conversation.", nil
	}
	var opposite []call
	for _, c := range slices.Backward(t.before[i]) {
		if c.failed || c.reads() {
			continue
		}
		out := object(c.result)
		back := call{tool: c.tool, input: values{"page": out["id"]}}
		switch was, _ := out["before"].(values); c.tool {
		case "cms.createPage":
			back.tool = "cms.deletePage"
		case "cms.addSectionToPage":
			back.tool, back.input = "cms.removeSection", values{"sectionId": out["id"]}
		case "cms.updatePage":
			for key := range c.input {
				if v, ok := was[strings.Replace(key, "newSlug", "slug", 1)]; ok {
					back.input[key] = v
				}
			}
		case "cms.syncPageContents":
			contents := values{}
			for _, s := range sectionsOf(c.result) {
				contents[s.ID] = s.Before
			}
			back.input["contents"] = contents
		default:
			return "I can't undo that by a call. The button Undo below that answer does it.", nil
		}
		opposite = append(opposite, back)
	}
	for _, c := range opposite {
		if _, err := t.call("undo the last change", c.tool, c.input); err != nil {
			return "", err
		}
	}
	return "The last change is undone.", nil
}
