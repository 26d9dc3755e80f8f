package cmstools

import (
	"cmp"
	"context"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// What visitors lose, or find under another name, needs approval: what goes offline, a change of an
// address, and another name of a published page. A change of a text doesn't, nor does publishing.

// asksPage returns why a change of a page needs approval.
func (s *desk) asksPage(ctx context.Context, in site.UpdatePage) (string, error) {
	p, err := s.GetPage(ctx, in.Page, "")
	if err != nil {
		return "", err
	}
	live := p.Status == site.Published
	var why []string
	if live && in.Status != nil && *in.Status == site.Draft {
		why = append(why, "the page {page} goes offline: visitors don't find it any more")
	}
	if in.NewSlug != nil && *in.NewSlug != p.Slug {
		why = append(why, first(theTable().Tools[UpdatePage].Asks, fields(in)))
	}
	if live && in.Name != nil && *in.Name != p.Name {
		why = append(why, "visitors see the new name {name} of the page {page} at once")
	}
	return s.fill(ctx, strings.Join(why, "; "), fields(in))
}

// asksSection returns why a change of a section needs approval.
func (s *desk) asksSection(ctx context.Context, in site.UpdateSection) (string, error) {
	sec, err := s.GetPageSection(ctx, "", in.SectionID, "")
	if err != nil || in.Status == nil || *in.Status != site.Unpublished || sec.Status != site.Published {
		return "", err
	}
	if p, err := s.GetPage(ctx, sec.PageID, ""); err != nil || p.Status != site.Published {
		return "", err
	}
	return s.fill(ctx, "{sectionId} goes offline: visitors don't see it any more", fields(in))
}

// asksEntry returns why a change of an entry needs approval.
func (s *desk) asksEntry(ctx context.Context, in site.UpsertEntry) (string, error) {
	e, err := s.GetEntryIn(ctx, in.Collection, in.Entry, in.Locale)
	if in.Entry == "" || fault.Of(err) == fault.NotFound { // it is a new one
		return "", nil
	}
	if err != nil || e.Status != site.Published {
		return "", err
	}
	switch {
	case in.Status == site.Draft:
		return s.fill(ctx, "the entry {entry} goes offline: visitors don't find it any more", fields(in))
	case cmp.Or(in.NewSlug, e.Slug) != e.Slug:
		return s.fill(ctx, "the address of the entry {entry} changes: links to the old one break", fields(in))
	}
	return "", nil
}
