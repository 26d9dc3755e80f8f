package cmstools

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	onePage struct {
		Page string `json:"page"`
	}
	oneSection struct {
		SectionID string `json:"sectionId"`
	}
	oneEntry struct {
		Entry string `json:"entry"`
	}
	addPicture struct {
		Page    string `json:"page"`
		Section string `json:"section"`
		Media   string `json:"media"`
		Slot    string `json:"slot,omitempty"`
		Alt     string `json:"alt,omitempty"`
		Locale  string `json:"locale,omitempty"`
	}
	addMenuItem struct {
		Page     string `json:"page,omitempty"`
		URL      string `json:"url,omitempty"`
		Label    string `json:"label,omitempty"`
		Position *int   `json:"position,omitempty"`
		Menu     string `json:"menu,omitempty"`
	}
	removeMenuItem struct {
		Item string `json:"item"`
		Menu string `json:"menu,omitempty"`
	}
)

// writes returns the tools that change pages, sections, entries and menus.
func (s *desk) writes() []tools.Tool {
	return []tools.Tool{
		write(s, CreatePage, change[site.CreatePage, *site.Page]{run: s.CreatePage}),
		write(s, UpdatePage, change[site.UpdatePage, *site.Page]{run: s.UpdatePage, undo: s.undoUpdate,
			ask: s.asksPage}),
		write(s, ClonePage, change[site.ClonePage, *site.Page]{run: s.ClonePage}),
		write(s, DeletePage, change[onePage, *site.Deleted]{
			run: func(ctx context.Context, in onePage) (*site.Deleted, error) { return s.DeletePage(ctx, in.Page) }}),
		write(s, AddSection, change[site.AddSection, *site.Section]{run: s.AddSection}),
		write(s, "cms.syncPageContents", change[site.SyncPage, *site.SyncedPage]{run: s.SyncPage,
			undo: func(ctx context.Context, _ site.SyncPage, out *site.SyncedPage) error {
				return s.writeBack(ctx, out)
			}}),
		write(s, "cms.addPicture", change[addPicture, *site.SyncedPage]{run: s.addPicture,
			undo: func(ctx context.Context, _ addPicture, out *site.SyncedPage) error {
				return s.writeBack(ctx, out)
			}}),
		write(s, "cms.updateSection", change[site.UpdateSection, *site.Section]{run: s.UpdateSection,
			ask: s.asksSection,
			undo: func(ctx context.Context, in site.UpdateSection, out *site.Section) error {
				_, err := s.UpdateSection(ctx, site.UpdateSection{SectionID: out.ID,
					SortOrder: back(in.SortOrder, out.Was.SortOrder), Status: back(in.Status, out.Was.Status),
					Variant: back(in.Variant, out.Was.Variant)})
				return err
			}}),
		write(s, "cms.removeSection", change[oneSection, *site.DeletedSection]{
			run: func(ctx context.Context, in oneSection) (*site.DeletedSection, error) {
				return s.RemoveSection(ctx, in.SectionID)
			}}),
		write(s, UpsertEntry, change[site.UpsertEntry, *site.Upserted]{run: s.UpsertEntry, ask: s.asksEntry,
			undo: func(ctx context.Context, _ site.UpsertEntry, out *site.Upserted) error {
				if out.Created {
					_, err := s.DeleteEntry(ctx, out.ID)
					return err
				}
				_, err := s.UpsertEntry(ctx, site.UpsertEntry{Collection: out.CollectionID, Entry: out.ID,
					Title: out.Before.Title, NewSlug: out.Before.Slug, Status: out.Before.Status, Locale: out.Locale,
					Content: out.Before.Content})
				return err
			}}),
		write(s, "cms.deleteEntry", change[oneEntry, *site.Removed]{
			run: func(ctx context.Context, in oneEntry) (*site.Removed, error) {
				return s.DeleteEntry(ctx, in.Entry)
			}}),
		write(s, "cms.addMenuItem", menuChange(s, s.addMenuItem)),
		write(s, "cms.removeMenuItem", menuChange(s, s.removeMenuItem)),
	}
}

// back returns the old value of a field if a request has changed it.
func back[T any](changed *T, old T) *T {
	if changed == nil {
		return nil
	}
	return &old
}

// undoUpdate gives the fields of a page that a request has changed their old values.
func (s *desk) undoUpdate(ctx context.Context, in site.UpdatePage, out *site.Page) error {
	was, meta := out.Before, map[string]any{}
	for key := range in.Meta {
		meta[key] = was.Meta[key]
	}
	_, err := s.UpdatePage(ctx, site.UpdatePage{Page: out.ID, Name: back(in.Name, was.Name),
		NewSlug: back(in.NewSlug, was.Slug), Description: back(in.Description, was.Description),
		Indexing: back(in.Indexing, was.Indexing), Status: back(in.Status, was.Status), Meta: meta})
	return err
}

// writeBack gives sections the contents that they had before.
func (s *desk) writeBack(ctx context.Context, out *site.SyncedPage) error {
	was := map[string]map[string]any{}
	for _, sec := range out.Sections {
		was[sec.ID] = sec.Before
	}
	_, err := s.SyncPage(ctx, site.SyncPage{Page: out.ID, Locale: out.Locale, Contents: was})
	return err
}

// addPicture puts a picture into a section: in place of another one, or into a list.
func (s *desk) addPicture(ctx context.Context, in addPicture) (*site.SyncedPage, error) {
	files, err := s.ListMedia(ctx, site.ListMedia{Query: site.Query{Limit: 200}})
	i := slices.IndexFunc(files.Items, func(m *site.Media) bool {
		return m.ID == in.Media || strings.EqualFold(m.Name, in.Media)
	})
	if err != nil || i < 0 {
		return nil, cmp.Or(err, fault.Errorf(fault.NotFound, "there is no uploaded file %q; cms_listMedia lists them",
			in.Media))
	}
	sec, err := s.GetPageSection(ctx, in.Page, in.Section, in.Locale)
	if err != nil {
		return nil, err
	}
	def, err := s.GetSection(ctx, sec.Section)
	if err != nil {
		return nil, err
	}
	picture := map[string]any{"id": files.Items[i].ID}
	if in.Alt != "" {
		picture["alt"] = in.Alt
	}
	for _, slot := range def.Elements.Slots() {
		if slot.Key != in.Slot && (in.Slot != "" || slot.Type != site.TypeImage) {
			continue
		}
		content := map[string]any{slot.Key: picture}
		if list, _ := sec.Content[slot.Key].([]any); slot.Rules.Multiple {
			content[slot.Key] = append(list, picture)
		}
		return s.SyncPage(ctx, site.SyncPage{Page: sec.PageID, Locale: in.Locale,
			Contents: map[string]map[string]any{sec.ID: content}})
	}
	return nil, fault.Errorf(fault.Invalid, "the section %q has no place for a picture; choose another one", sec.Section)
}

// addMenuItem puts an item into a menu, or renames or moves the one with the same target.
func (s *desk) addMenuItem(ctx context.Context, in addMenuItem) (*site.Navigation, error) {
	n, err := s.menu(ctx, in.Menu)
	if err != nil {
		return nil, err
	}
	item := site.NavItem{Value: in.URL, TargetType: "url", URL: in.URL}
	if in.Page != "" {
		p, err := s.GetPage(ctx, in.Page, "")
		if err != nil {
			return nil, err
		}
		item = site.NavItem{Value: p.Name, TargetType: "page", TargetUUID: p.ID}
	}
	items, place := slices.Clone(n.Items), len(n.Items)
	if i := slices.IndexFunc(items, func(o site.NavItem) bool {
		return o.TargetType == item.TargetType && o.TargetUUID == item.TargetUUID && o.URL == item.URL
	}); i >= 0 {
		item.ID, item.Items, item.Value, place = items[i].ID, items[i].Items, items[i].Value, i
		items = slices.Delete(items, i, i+1)
	}
	item.Value = cmp.Or(in.Label, item.Value)
	if in.Position != nil {
		place = *in.Position
	}
	return s.SyncNavItems(ctx, n.ID, slices.Insert(items, min(place, len(items)), item))
}

// removeMenuItem takes an item out of a menu: by its id, its text, or the slug of its page.
func (s *desk) removeMenuItem(ctx context.Context, in removeMenuItem) (*site.Navigation, error) {
	n, err := s.menu(ctx, in.Menu)
	if err != nil {
		return nil, err
	}
	p, _ := s.GetPage(ctx, in.Item, "") // there may be none
	var have []string
	for _, item := range n.Items {
		if item.ID == in.Item || p != nil && item.TargetUUID == p.ID || strings.EqualFold(item.Value, in.Item) {
			return s.DeleteNavItem(ctx, n.ID, item.ID)
		}
		have = append(have, item.Value)
	}
	return nil, fault.Errorf(fault.NotFound, "the menu has no item %q; it has %s", in.Item, strings.Join(have, ", "))
}

// menuChange is a change of a menu. It can be undone while nothing else has changed the menu.
func menuChange[In any](s *desk, run func(context.Context, In) (*site.Navigation, error)) change[In, *site.Navigation] {
	items := func(of []site.NavItem) any { return fields(map[string]any{"items": of}) }
	return change[In, *site.Navigation]{run: run,
		undo: func(ctx context.Context, _ In, out *site.Navigation) error {
			now, err := s.menu(ctx, out.ID)
			if err != nil || reflect.DeepEqual(items(now.Items), items(out.Before)) { // it was undone before
				return err
			}
			if !reflect.DeepEqual(items(now.Items), items(out.Items)) {
				return errors.New("the menu was changed since then")
			}
			_, err = s.SyncNavItems(ctx, out.ID, out.Before)
			return err
		}}
}
