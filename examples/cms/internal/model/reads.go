package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
)

// A list lists all items of a kind.
type list struct{ kind, of string }

func (r list) do(w *turn) string {
	tool, input := map[string]string{"pages": listPages, "sections": listSections, "collections": listCollections, "entries": listEntries}[r.kind], map[string]any{}
	if r.kind == "entries" {
		input["collection"] = first(slug(r.of), "blog")
	}
	a := w.call(fmt.Sprintf("I list the %s.", r.kind), tool, input)
	if a == nil {
		return ""
	}
	var out struct {
		Total int
		Items []struct {
			Name, Title, Slug, Key, Description string
			Sections, Entries                   int
		}
	}
	if !a.ok || a.decode(&out) != nil {
		return a.failed("list the " + r.kind)
	}
	noun := r.kind
	switch {
	case out.Total == 1:
		noun = map[string]string{"pages": "page", "sections": "section definition", "collections": "collection", "entries": "entry"}[r.kind]
	case r.kind == "sections":
		noun = "section definitions"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "There %s %d %s:", map[bool]string{true: "is", false: "are"}[out.Total == 1], out.Total, noun)
	for _, item := range out.Items {
		switch r.kind {
		case "pages":
			fmt.Fprintf(&b, "\n- %s (%s), %d section%s", item.Name, path(item.Slug), item.Sections, plural(item.Sections))
		case "sections":
			fmt.Fprintf(&b, "\n- %s (%s): %s", item.Name, item.Key, item.Description)
		case "collections":
			fmt.Fprintf(&b, "\n- %s (%s), entries: %d", item.Name, item.Slug, item.Entries)
		default:
			fmt.Fprintf(&b, "\n- %s (%s)", item.Title, item.Slug)
		}
	}
	if more := out.Total - len(out.Items); more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// read finds the page or the entry, and calls the tool for it. It returns nil if there is no result yet.
func (w *turn) read(what, kind, locale, think, tool string) (f found, note string, a *answer) {
	f, note, ok := w.resolve(what, kind)
	if !ok {
		return f, note, nil
	}
	input := map[string]any{kind: f.Slug}
	if locale != "" {
		input["locale"] = locale
	}
	return f, note, w.call(think, tool, input)
}

// A show describes a page.
type show struct{ page, locale string }

func (r show) do(w *turn) string {
	f, note, a := w.read(r.page, "page", r.locale, "I read the page.", getPage)
	if a == nil {
		return ""
	}
	var p page
	if !a.ok || a.decode(&p) != nil {
		return note + a.failed(fmt.Sprintf("read the page %q", f.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sThe page %q is at %s.", note, p.Name, path(p.Slug))
	if p.Description != "" {
		fmt.Fprintf(&b, " It is described as %q.", p.Description)
	}
	if len(p.Sections) == 0 {
		b.WriteString(" It has no sections.")
	}
	for i, s := range p.Sections {
		fmt.Fprintf(&b, "\n%d. %s (%s, %s)", i+1, s.Name, s.ID, s.Status)
		writeContent(&b, s.Content)
	}
	return b.String()
}

// writeContent writes values in the order of their keys.
func writeContent(b *strings.Builder, content map[string]any) {
	for _, slot := range slices.Sorted(maps.Keys(content)) {
		switch v := content[slot].(type) {
		case map[string]any:
			for _, key := range []string{"url", "href", "targetId", "entryId"} {
				if text, ok := v[key].(string); ok {
					fmt.Fprintf(b, "\n   %s: %s", slot, text)
					break
				}
			}
		default:
			fmt.Fprintf(b, "\n   %s: %v", slot, v)
		}
	}
}

// A showEntry describes an entry.
type showEntry struct{ entry, locale string }

func (r showEntry) do(w *turn) string {
	f, note, a := w.read(r.entry, "entry", r.locale, "I read the entry.", getEntry)
	if a == nil {
		return ""
	}
	var e entry
	if !a.ok || a.decode(&e) != nil {
		return note + a.failed(fmt.Sprintf("read the entry %q", f.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sThe entry %q is in the collection %s, at /%s/%s.", note, e.Title, e.Collection, e.Collection, e.Slug)
	writeContent(&b, e.Content)
	return b.String()
}

// A preview shows a page as visitors see it.
type preview struct{ page, locale string }

func (r preview) do(w *turn) string {
	f, note, a := w.read(r.page, "page", r.locale, "I preview the page as visitors see it.", previewPage)
	if a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(fmt.Sprintf("preview the page %q", f.Name))
	}
	return note + "Visitors see this:\n\n" + a.text()
}

// A find searches by name.
type find struct{ what, kind string }

func (r find) do(w *turn) string {
	input := map[string]any{"query": r.what}
	if r.kind != "" {
		input["kind"] = r.kind
	}
	a := w.call("I look for it by its name.", findResource, input)
	if a == nil {
		return ""
	}
	if !a.ok {
		return a.failed("look for " + r.what)
	}
	all := a.readFound(r.kind)
	if len(all) == 0 {
		return fmt.Sprintf("I found nothing like %q.", r.what)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Like %q I found:", r.what)
	for _, f := range all {
		sure := map[string]string{index.MatchUnsure: ", though I'm not sure", index.MatchRival: ", or another of these", index.MatchLess: ", which fits less"}[f.Match]
		fmt.Fprintf(&b, "\n- the %s %q (%s)%s: %s", f.Kind, f.Name, f.Slug, sure, f.Why)
	}
	return b.String()
}
