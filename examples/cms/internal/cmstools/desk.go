package cmstools

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// A desk makes the tools of a site.
type desk struct{ *site.Site }

// find returns what a property of an input refers to, or what has an id with a prefix.
func (s *desk) find(ctx context.Context, property, ref, locale string) (any, error) {
	switch property {
	case "page", "source", "pg":
		p, err := s.GetPage(ctx, ref, locale)
		if err != nil {
			return nil, err
		}
		contents := map[string]any{}
		for _, sec := range p.Sections {
			contents[sec.ID], contents[sec.Section] = sec.Content, sec.Content
		}
		return struct {
			*site.Page
			Contents map[string]any `json:"contents"`
		}{p, contents}, nil
	case "sectionId", "sec":
		return s.GetPageSection(ctx, "", ref, locale)
	case "entry", "ent":
		return s.GetEntry(ctx, ref, locale)
	case "section", "def":
		if strings.HasPrefix(ref, "sec_") { // one of a page
			return s.GetPageSection(ctx, "", ref, locale)
		}
		return s.GetSection(ctx, ref)
	case "collection", "col":
		return s.GetCollection(ctx, ref)
	case "menu", "nav":
		return s.menu(ctx, ref)
	}
	return map[string]string{"name": ref}, nil
}

// stored returns what a call has written, as it is stored.
func (s *desk) stored(ctx context.Context, out any, locale string) (any, error) {
	id, _ := fields(out)["id"].(string)
	if d, ok := out.(*site.Deleted); ok {
		id = d.Page.ID
	}
	prefix, _, _ := strings.Cut(id, "_")
	return s.find(ctx, prefix, id, locale)
}

// isDeleted reports whether a call has deleted something.
func isDeleted(out any) bool {
	switch out.(type) {
	case *site.Deleted, *site.DeletedSection, *site.Removed:
		return true
	}
	return false
}

// back deletes what a call has made, or restores what it has deleted.
func (s *desk) back(ctx context.Context, out any) (err error) {
	if _, err := s.stored(ctx, out, ""); err == nil && isDeleted(out) {
		return nil // it was restored before
	}
	switch out := out.(type) {
	case *site.Deleted:
		_, err = s.RestorePage(ctx, out)
	case *site.DeletedSection:
		_, err = s.RestoreSection(ctx, out.Page, out)
	case *site.Removed:
		err = s.Restore(ctx, out)
	case *site.Page:
		_, err = s.DeletePage(ctx, out.ID)
	case *site.Section:
		_, err = s.RemoveSection(ctx, out.ID)
	case *site.SectionDef:
		_, err = s.DeleteSectionDef(ctx, out.ID)
	case *site.Collection:
		_, err = s.DeleteCollection(ctx, out.ID)
	}
	return err
}

var blank = regexp.MustCompile(`\{\w+\}`)

// fill fills in what is in braces: a property of an input, by the name of what it refers to. The
// error is that of the first one that doesn't exist.
func (s *desk) fill(ctx context.Context, text string, in map[string]any) (filled string, wrong error) {
	return blank.ReplaceAllStringFunc(text, func(property string) string {
		property = strings.Trim(property, "{}")
		ref, _ := in[property].(string)
		if place, ok := in[property].(float64); ok { // people count from 1
			return fmt.Sprint(place + 1)
		}
		found, err := s.find(ctx, property, ref, "")
		wrong = cmp.Or(wrong, err)
		if sec, ok := found.(*site.Section); ok && err == nil {
			said := "the " + sec.Section
			title := cmp.Or(sec.Content["title"], sec.Content["heading"], sec.Content["text"])
			if text, _ := title.(string); text != "" {
				said += " “" + strings.TrimSpace(fmt.Sprintf("%.40s", text)) + "”"
			}
			if property == "sectionId" {
				said, _ = s.fill(ctx, said+" of page {page}", map[string]any{"page": sec.Page})
			}
			return said
		}
		if property == "newSlug" || property == "slug" {
			return ref
		}
		of := fields(found)
		name, _ := cmp.Or(of["name"], of["title"], any(ref)).(string)
		if property == "page" || property == "source" { // several pages may have a name
			slug, _ := cmp.Or(of["slug"], any(ref)).(string)
			return "“" + name + "” at " + site.Path(slug)
		}
		return "“" + name + "”"
	}), wrong
}

// asks returns why the table says that a call needs approval, or that it touches ten sections or
// more.
func (s *desk) asks(ctx context.Context, r row, in map[string]any) (string, error) {
	list, _ := in[r.Bulk].([]any)
	object, _ := in[r.Bulk].(map[string]any)
	n := len(list) + len(object)
	if ref, ok := in["source"].(string); ok {
		p, err := s.GetPage(ctx, ref, "")
		if err != nil {
			return "", err
		}
		n = len(p.Sections)
	}
	if n >= 10 {
		return fmt.Sprintf("it touches %d sections at once", n), nil
	}
	return s.fill(ctx, first(r.Asks, in), in)
}

// menu returns the menu with an id or a name; main if that is empty.
func (s *desk) menu(ctx context.Context, ref string) (*site.Navigation, error) {
	all, err := s.ListNavigations(ctx)
	for _, n := range all {
		if n.ID == ref || strings.EqualFold(n.Name, cmp.Or(ref, "main")) {
			return n, nil
		}
	}
	return nil, cmp.Or(err, fault.Errorf(fault.NotFound, "there is no menu %q", cmp.Or(ref, "main")))
}
