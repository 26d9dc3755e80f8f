package model

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
)

// A found is a result of a lookup.
type found struct{ Kind, ID, Slug, Name, Match, Why string }

// readFound reads the results of a lookup of a kind, or of any kind if that is empty.
func (a *answer) readFound(kind string) []found {
	var all []found
	if strings.HasPrefix(a.text(), `{"found"`) { // a waiting run of an earlier release
		return a.readOldFound(kind)
	}
	for _, l := range index.Lines(a.text()) {
		if len(l.Aliases) > 0 && (kind == "" || l.Kind == kind) {
			all = append(all, found{l.Kind, l.ID, l.Aliases[0], l.Name, l.Match, l.Why})
		}
	}
	return all
}

// readOldFound reads lookups of releases without an index. They have no rivals: a run with rivals wouldn't have waited.
func (a *answer) readOldFound(kind string) []found {
	var out struct {
		Found []struct {
			found
			Similarity float64
		}
	}
	if a.decode(&out) != nil {
		return nil
	}
	var all []found
	for _, f := range out.Found {
		if f.Kind != kind && kind != "" {
			continue
		}
		if f.Match = index.MatchLikely; f.Similarity >= .95 {
			f.Match = index.MatchExact
		}
		all = append(all, f.found)
	}
	return all
}

// resolve finds what a name means. note explains the match if it isn't exact; ok is false if the request stops here.
func (w *turn) resolve(what, kind string) (f found, note string, ok bool) {
	if what == "" {
		if w.last == "" || kind != "page" {
			w.instead = "Which " + kind + " do you mean? Name it, for example: show the page Home."
			return f, "", false
		}
		what = w.last
	}
	a := w.call(fmt.Sprintf("I look up the %s %q.", kind, what), findResource, map[string]any{"query": what, "kind": kind})
	if a == nil {
		return f, "", false
	}
	if !a.ok {
		w.instead = a.failed("look up " + what)
		return f, "", false
	}
	all := a.readFound(kind)
	if len(all) == 0 {
		w.instead = fmt.Sprintf("I found no %s like %q.", kind, what)
		if others := a.readFound(""); len(others) > 0 {
			w.instead += fmt.Sprintf(" There is the %s %q (%s).", others[0].Kind, others[0].Name, others[0].Slug)
		}
		return f, "", false
	}
	f = all[0]
	var rivals []string
	for _, r := range all {
		if r.Slug == what || r.ID == what { // it is unique
			r.Match = index.MatchExact
			f, rivals = r, nil
			break
		}
		if r.Match == index.MatchRival {
			rivals = append(rivals, fmt.Sprintf("%q (%s)", r.Name, r.Slug))
		}
	}
	if len(rivals) > 1 {
		last := len(rivals) - 1
		w.instead = fmt.Sprintf("%q could be %s or %s. Say which one, by the name in brackets.", what, strings.Join(rivals[:last], ", "), rivals[last])
		return f, "", false
	}
	if kind == "page" {
		w.last = f.Slug
	}
	switch {
	case f.Match == index.MatchExact && (strings.EqualFold(what, f.Name) || slug(what) == f.Slug || what == f.ID):
	case f.Match == index.MatchUnsure:
		note = fmt.Sprintf("I took %q to mean the %s %q, and am not sure of that. ", what, kind, f.Name)
	default:
		note = fmt.Sprintf("I took %q to mean the %s %q. ", what, kind, f.Name)
	}
	return f, note, true
}

// resolveToChange is resolve for a change that needs no approval: it rejects an uncertain match.
func (w *turn) resolveToChange(what, kind string) (f found, note string, ok bool) {
	f, note, ok = w.resolve(what, kind)
	if ok && f.Match == index.MatchUnsure {
		w.instead = fmt.Sprintf("I'm not sure which %s is %q: %q (%s) fits best. If you mean it, say so by the name in brackets.", kind, what, f.Name, f.Slug)
		return f, "", false
	}
	return f, note, ok
}
