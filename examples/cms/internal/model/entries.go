package model

import (
	"fmt"
	"regexp"
)

// An entry is the part of an entry that the model reads.
type entry struct {
	ID, Slug, Title, Collection string
	Content                     map[string]any
	Created                     bool
}

// entryFree matches the error for a taken slug, which names a free one.
var entryFree = regexp.MustCompile(`^slug "([^"]+)" exists already \(entry .*such as "([^"]+)"`)

// A writeEntry creates an entry.
type writeEntry struct{ collection, title, body, locale string }

func (r writeEntry) do(w *turn) string {
	input := map[string]any{"collection": r.collection, "title": r.title, "content": map[string]any{"body": first(r.body, r.title)}}
	if r.locale != "" {
		input["locale"] = r.locale
	}
	think, taken := fmt.Sprintf("A new entry %q for the collection %s.", r.title, r.collection), ""
	for range 5 {
		a := w.write(think, upsertEntry, input)
		if a == nil {
			return ""
		}
		if !a.ok {
			free := entryFree.FindStringSubmatch(a.text())
			if free == nil {
				return a.failed(fmt.Sprintf("write the entry %q", r.title))
			}
			taken = first(taken, free[1])
			input["entry"] = free[2]
			think = fmt.Sprintf("The slug %q is taken. I take %q, which is free.", free[1], free[2])
			continue
		}
		var e entry
		if a.decode(&e) != nil {
			return a.text()
		}
		text := ""
		if taken != "" {
			text = fmt.Sprintf("The slug %q was taken, so I wrote the entry as %q. ", taken, e.Slug)
		}
		return text + fmt.Sprintf("The entry %q is in the collection %s, at /%s/%s.", e.Title, e.Collection, e.Collection, e.Slug)
	}
	return fmt.Sprintf("I couldn't write the entry %q: every slug that I tried was taken.", r.title)
}

// A setEntry changes the title or the body of an entry.
type setEntry struct{ entry, title, body, locale string }

func (r setEntry) do(w *turn) string {
	f, note, ok := w.resolveToChange(r.entry, "entry")
	if !ok {
		return ""
	}
	a := w.call("I check which collection it is in.", getEntry, map[string]any{"entry": f.Slug})
	if a == nil {
		return ""
	}
	var e entry
	if !a.ok || a.decode(&e) != nil {
		return note + a.failed(fmt.Sprintf("read the entry %q", f.Name))
	}
	input := map[string]any{"collection": e.Collection, "entry": e.Slug}
	what := "body"
	if r.title != "" {
		what, input["title"] = "title", r.title
	} else {
		input["content"] = map[string]any{"body": r.body}
	}
	if r.locale != "" {
		input["locale"] = r.locale
	}
	doing := fmt.Sprintf("change the %s of the entry %q", what, e.Title)
	if a = w.write("I "+doing+".", upsertEntry, input); a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(doing)
	}
	return note + fmt.Sprintf("The %s of the entry %q is %q now.", what, e.Title, first(r.title, r.body))
}
