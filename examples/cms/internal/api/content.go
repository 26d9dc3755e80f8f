package api

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/memory/index"
)

// contentRoutes are the routes of the site.
func (s *server) contentRoutes() []route {
	st := s.Site
	const (
		page    = base + "/pages/{page}"
		section = base + "/sections/{section}"
		coll    = base + "/collections/{collection}"
		entry   = coll + "/entries/{entry}"
		medium  = base + "/media/{media}"
		menu    = base + "/navigations/{navigation}"
	)
	return []route{
		on(get, "/api/locales", "The locales.", all(st.ListLocales)),
		on(get, base+"/locales", "The locales.", all(st.ListLocales)),
		made(base+"/locales", "The locale was created.", body(st.CreateLocale)),
		on(put, base+"/locales/{code}", "The locale was changed.", func(c *call, in site.Locale) (site.Locale, error) {
			in.Code = c.PathValue("code")
			return st.UpdateLocale(c.Context(), in)
		}),
		on(del, base+"/locales/{code}", "The locale was deleted.", named("code", st.DeleteLocale)),
		on(get, "/api/elements", "The types of slots.", func(*call, none) ([]site.ElementType, error) {
			return site.ElementTypes(), nil
		}),
		on(get, "/v1/cms/search", "What was found.", func(c *call, _ none) ([]site.Hit, error) {
			q, err := c.query()
			if err != nil {
				return nil, err
			}
			return st.Search(c.Context(), q.Text, q.Limit)
		}),
		on(post, "/v1/cms/search/resources", "What the name may mean.", s.find),

		on(get, base+"/pages", "The pages.", list(st.ListPages)),
		made(base+"/pages", "The page was created.", body(st.CreatePage)),
		on(get, page, "The page.", s.page),
		on(put, page, "The page was changed.", func(c *call, in pageChange) (*site.Page, error) {
			in.Page, in.NewSlug = c.PathValue("page"), cmp.Or(in.Slug, in.NewSlug)
			return st.UpdatePage(c.Context(), in.UpdatePage)
		}),
		on(del, page, "The page was deleted.", named("page", st.DeletePage)),
		on(get, page+"/contents", "The contents of the page.", func(c *call, in none) ([]site.Section, error) {
			p, err := s.page(c, in)
			if err != nil {
				return nil, err
			}
			return p.Sections, nil
		}),
		on(post, page+"/contents", "The contents were written.",
			func(c *call, in contentsBody) (*site.SyncedPage, error) {
				return st.SyncPage(c.Context(), site.SyncPage{Page: c.PathValue("page"), Locale: c.locale(),
					Contents: in.Contents, Prune: in.Prune})
			}),
		made(page+"/section", "The section was added.", func(c *call, in newSection) (*site.Section, error) {
			return st.AddSection(c.Context(), site.AddSection{Page: c.PathValue("page"), Section: in.SectionDefID,
				SortOrder: in.SortOrder, Content: in.Content, Locale: in.Locale})
		}),

		on(get, base+"/sections", "The section definitions.", list(st.ListSections)),
		made(base+"/sections", "The section definition was created.", body(st.CreateSectionDef)),
		on(put, section, "The section definition was changed.",
			func(c *call, in site.UpdateSectionDef) (*site.SectionDef, error) {
				in.Section = c.PathValue("section")
				return st.UpdateSectionDef(c.Context(), in)
			}),
		on(del, section, "The section definition was deleted.", named("section", st.DeleteSectionDef)),
		on(post, section+"/elements", "The slots were replaced.",
			func(c *call, in site.SyncElements) (*site.SyncedElements, error) {
				in.Definition = c.PathValue("section")
				return st.SyncSectionElements(c.Context(), in)
			}),

		on(get, base+"/collections", "The collections.", list(st.ListCollections)),
		made(base+"/collections", "The collection was created.", body(st.CreateCollection)),
		on(put, coll, "The collection was changed.", func(c *call, in site.UpdateCollection) (*site.Collection, error) {
			in.Collection = c.PathValue("collection")
			return st.UpdateCollection(c.Context(), in)
		}),
		on(del, coll, "The collection was deleted.", named("collection", st.DeleteCollection)),
		on(post, coll+"/elements", "The slots were replaced.",
			func(c *call, in site.SyncElements) (*site.SyncedElements, error) {
				in.Definition = c.PathValue("collection")
				return st.SyncCollectionElements(c.Context(), in)
			}),

		on(get, coll+"/entries", "The entries.", func(c *call, in none) (site.List[*site.Entry], error) {
			return list(func(ctx context.Context, q site.Query) (site.List[*site.Entry], error) {
				return st.ListEntries(ctx, site.ListEntries{Collection: c.PathValue("collection"), Query: q})
			})(c, in)
		}),
		made(coll+"/entries", "The entry was created.", func(c *call, in entryBody) (*site.Upserted, error) {
			return st.UpsertEntry(c.Context(), site.UpsertEntry{Collection: c.PathValue("collection"), Entry: in.Slug,
				Title: in.Title, Status: in.Status, Locale: cmp.Or(in.Locale, c.locale()), Content: in.Content,
				New: true})
		}),
		on(post, coll+"/entries/order", "The entries were ordered.",
			func(c *call, in []site.EntryOrder) (site.List[*site.Entry], error) {
				if err := st.OrderEntries(c.Context(), c.PathValue("collection"), in); err != nil {
					return site.List[*site.Entry]{}, err
				}
				return st.ListEntries(c.Context(), site.ListEntries{Collection: c.PathValue("collection")})
			}),
		on(get, entry, "The entry.", s.entry),
		on(put, entry, "The entry was changed.", func(c *call, in entryBody) (*site.Upserted, error) {
			return s.write(c, site.UpsertEntry{NewSlug: in.Slug, Title: in.Title, Status: in.Status,
				Locale: cmp.Or(in.Locale, c.locale()), Content: in.Content})
		}),
		on(del, entry, "The entry was deleted.", func(c *call, in none) (*site.Removed, error) {
			e, err := s.entry(c, in)
			if err != nil {
				return nil, err
			}
			return st.DeleteEntry(c.Context(), e.ID)
		}),
		on(get, entry+"/contents", "The contents of the entry.", func(c *call, in none) (entryContents, error) {
			e, err := s.entry(c, in)
			if err != nil {
				return entryContents{}, err
			}
			return entryContents{e.Content}, nil
		}),
		on(post, entry+"/contents", "The contents were written.",
			func(c *call, in entryContents) (*site.Upserted, error) {
				return s.write(c, site.UpsertEntry{Locale: c.locale(), Content: in.Content})
			}),

		on(get, base+"/media", "The media.", func(c *call, in none) (site.List[*site.Media], error) {
			return list(func(ctx context.Context, q site.Query) (site.List[*site.Media], error) {
				return st.ListMedia(ctx, site.ListMedia{Group: c.URL.Query().Get("group"), Query: q})
			})(c, in)
		}),
		made(base+"/media", "The file was uploaded.", s.upload),
		on(get, medium, "The medium.", named("media", st.GetMedia)),
		on(put, medium, "The medium was changed.", func(c *call, in site.UpdateMedia) (*site.Media, error) {
			in.Media = c.PathValue("media")
			return st.UpdateMedia(c.Context(), in)
		}),
		on(del, medium, "The medium was deleted.", named("media", st.DeleteMedia)),
		{get, medium + "/download", (*server).download},

		on(get, base+"/navigations", "The navigations.", all(st.ListNavigations)),
		made(base+"/navigations", "The navigation was created.", s.navigation),
		on(put, menu, "The navigation was changed.", s.navigation),
		on(del, menu, "The navigation was deleted.", named("navigation", st.DeleteNavigation)),
		made(menu+"/items", "The item was added.", s.item),
		on(put, menu+"/items/{item}", "The item was changed.", s.item),
		on(del, menu+"/items/{item}", "The item was deleted.", func(c *call, _ none) (*site.Navigation, error) {
			return st.DeleteNavItem(c.Context(), c.PathValue("navigation"), c.PathValue("item"))
		}),
		on(post, menu+"/items/sync", "The items were replaced.", func(c *call, in itemsBody) (*site.Navigation, error) {
			return st.SyncNavItems(c.Context(), c.PathValue("navigation"), in.Items)
		}),
	}
}

func (s *server) page(c *call, _ none) (*site.Page, error) {
	return s.Site.GetPage(c.Context(), c.PathValue("page"), c.locale())
}

func (s *server) entry(c *call, _ none) (*site.Entry, error) {
	return s.Site.GetEntryIn(c.Context(), c.PathValue("collection"), c.PathValue("entry"), c.locale())
}

// write changes the entry of the path. Without one, the upsert would create it.
func (s *server) write(c *call, in site.UpsertEntry) (*site.Upserted, error) {
	e, err := s.entry(c, none{})
	if err != nil {
		return nil, err
	}
	in.Collection, in.Entry = e.CollectionID, e.ID
	return s.Site.UpsertEntry(c.Context(), in)
}

// navigation creates a menu, or changes the one of the path.
func (s *server) navigation(c *call, in site.Navigation) (*site.Navigation, error) {
	in.ID = c.PathValue("navigation")
	return s.Site.PutNavigation(c.Context(), in)
}

// item adds an item to a menu, or replaces the one of the path.
func (s *server) item(c *call, in site.NavItem) (*site.Navigation, error) {
	in.ID, in.Items = c.PathValue("item"), nil
	return s.Site.PutNavItem(c.Context(), c.PathValue("navigation"), in)
}

// upload stores the file of the field file, with the text of the field alt.
func (s *server) upload(c *call, _ none) (*site.Media, error) {
	c.Body = http.MaxBytesReader(c.w, c.Body, maxUpload)
	if err := c.ParseMultipartForm(maxUpload); err != nil {
		if errors.Is(err, http.ErrNotMultipart) {
			return nil, refuse(http.StatusUnsupportedMediaType, "VALIDATION_ERROR",
				"an upload is a form of the type multipart/form-data with the field file")
		}
		return nil, refuseForm(err)
	}
	defer c.MultipartForm.RemoveAll()
	file, head, err := c.FormFile("file")
	if err != nil {
		return nil,
			refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the form has no file; put it into the field file")
	}
	defer file.Close()
	return s.Site.UploadMedia(c.Context(),
		site.UploadMedia{Name: head.Filename, Alt: c.FormValue("alt"), Content: file})
}

func (s *server) download(w http.ResponseWriter, r *http.Request) {
	m, err := s.Site.GetMedia(r.Context(), r.PathValue("media"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	files, name := s.Site.Uploads(), strings.TrimPrefix(m.Path, "/uploads/")
	if _, err := fs.Stat(files, name); err != nil {
		s.failed(w, r, refuse(http.StatusNotFound, "NOT_FOUND",
			"the file of media %s isn't on this computer; its address is %s", m.ID, m.Path))
		return
	}
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": m.Name}))
	w.Header().Set("Content-Type", m.MimeType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, files, path.Clean(name))
}

// kinds are the names of the types of resources.
var kinds = map[string]string{"page": site.KindPage, "section_def": site.KindSection, "collection": site.KindCollection,
	"entry": site.KindEntry}

// find returns what a name may mean, as the tool cms.findResource does.
func (s *server) find(c *call, in resourceQuery) (resources, error) {
	out := resources{Results: []site.Hit{}}
	var filter index.Filter
	if in.Type != "" {
		kind, ok := kinds[in.Type]
		if !ok {
			return out, refuse(http.StatusBadRequest, "VALIDATION_ERROR",
				"the type %q is unknown; use page, section_def, collection or entry", in.Type)
		}
		filter.Kinds = []string{kind}
	}
	found, err := s.Site.Find(c.Context(), in.Query, filter, min(cmp.Or(max(in.Limit, 0), 3), 50))
	if err != nil {
		return out, err
	}
	for _, h := range found.Hits {
		kind := h.Item.Kind
		if kind == site.KindSection {
			kind = "section_def"
		}
		out.Results = append(out.Results,
			site.Hit{Kind: kind, ID: h.Item.ID, Name: h.Item.Name, Slug: h.Item.Aliases[0], Score: h.Score})
	}
	return out, nil
}
