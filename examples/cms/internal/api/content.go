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

const (
	get  = http.MethodGet
	post = http.MethodPost
	put  = http.MethodPut
	del  = http.MethodDelete
)

// contentRoutes are the routes of the site.
func (s *server) contentRoutes() []route {
	st := s.Site
	locales := func(c *call, _ none) ([]site.Locale, error) { return st.ListLocales(c.Context()) }
	routes := []route{
		on(get, "/api/locales", "The locales.", locales),
		on(get, base+"/locales", "The locales.", locales),
		on(post, base+"/locales", "The locale was created.", func(c *call, in localeBody) (site.Locale, error) {
			return st.CreateLocale(c.Context(), site.Locale(in))
		}),
		on(put, base+"/locales/{code}", "The locale was changed.", func(c *call, in localeBody) (site.Locale, error) {
			return st.UpdateLocale(c.Context(), site.Locale{Code: c.id("code"), Name: in.Name, Status: in.Status})
		}),
		on(del, base+"/locales/{code}", "The locale was deleted.", func(c *call, _ none) (site.Locale, error) {
			return st.DeleteLocale(c.Context(), c.id("code"))
		}),
		on(get, "/api/elements", "The types of slots.", func(*call, none) ([]site.ElementType, error) {
			return site.ElementTypes(), nil
		}),
		on(get, "/v1/cms/search", "What was found.", func(c *call, _ none) ([]site.Hit, error) {
			q, err := c.query()
			if err != nil {
				return nil, err
			}
			return st.Search(c.Context(), q.Text, q.Limit)
		}, "q", "limit"),
		on(post, "/v1/cms/search/resources", "What the name may mean.",
			func(c *call, in resourceQuery) (resources, error) { return s.find(c.Context(), in) }),
	}
	routes = append(routes, s.pageRoutes()...)
	routes = append(routes, s.definitionRoutes()...)
	routes = append(routes, s.entryRoutes()...)
	routes = append(routes, s.mediaRoutes()...)
	return append(routes, s.navigationRoutes()...)
}

func (s *server) pageRoutes() []route {
	st := s.Site
	return []route{
		listOf(base+"/pages", "The pages.", func(c *call, q site.Query) (site.List[site.PageSummary], error) {
			return st.ListPages(c.Context(), q)
		}),
		on(post, base+"/pages", "The page was created.", func(c *call, in site.CreatePage) (*site.Page, error) {
			return st.CreatePage(c.Context(), in)
		}),
		on(get, base+"/pages/{page}", "The page.", func(c *call, _ none) (*site.Page, error) {
			return st.GetPage(c.Context(), c.id("page"), c.locale())
		}, "locale"),
		on(put, base+"/pages/{page}", "The page was changed.", func(c *call, in pageChange) (*site.Page, error) {
			return st.UpdatePage(c.Context(), site.UpdatePage{Page: c.id("page"), Name: in.Name, NewSlug: in.Slug,
				Description: in.Description, Status: in.Status, Indexing: in.Indexing, Meta: in.Meta})
		}),
		on(del, base+"/pages/{page}", "The page was deleted.", func(c *call, _ none) (*site.Deleted, error) {
			return st.DeletePage(c.Context(), c.id("page"))
		}),
		on(get, base+"/pages/{page}/contents", "The contents of the page.",
			func(c *call, _ none) ([]site.Section, error) {
				p, err := st.GetPage(c.Context(), c.id("page"), c.locale())
				if err != nil {
					return nil, err
				}
				return p.Sections, nil
			}, "locale"),
		on(post, base+"/pages/{page}/contents", "The contents were written.",
			func(c *call, in contentsBody) (*site.SyncedPage, error) {
				return st.SyncPage(c.Context(),
					site.SyncPage{Page: c.id("page"), Locale: c.locale(), Contents: in.Contents, Prune: in.Prune})
			}, "locale"),
		on(post, base+"/pages/{page}/section", "The section was added.",
			func(c *call, in newSection) (*site.Section, error) {
				return st.AddSection(c.Context(), site.AddSection{Page: c.id("page"), Section: in.SectionDefID,
					SortOrder: in.SortOrder, Content: in.Content, Locale: in.Locale})
			}),
	}
}

func (s *server) definitionRoutes() []route {
	st := s.Site
	return []route{
		listOf(base+"/sections", "The section definitions.",
			func(c *call, q site.Query) (site.List[*site.SectionDef], error) {
				return st.ListSections(c.Context(), q)
			}),
		on(post, base+"/sections", "The section definition was created.",
			func(c *call, in site.CreateSectionDef) (*site.SectionDef, error) {
				return st.CreateSectionDef(c.Context(), in)
			}),
		on(put, base+"/sections/{section}", "The section definition was changed.",
			func(c *call, in sectionDefChange) (*site.SectionDef, error) {
				return st.UpdateSectionDef(c.Context(),
					site.UpdateSectionDef{Section: c.id("section"), DefinitionFields: in.DefinitionFields,
						TemplateKey: in.TemplateKey, DefaultVariant: in.DefaultVariant})
			}),
		on(del, base+"/sections/{section}", "The section definition was deleted.",
			func(c *call, _ none) (*site.Removed, error) {
				return st.DeleteSectionDef(c.Context(), c.id("section"))
			}),
		on(post, base+"/sections/{section}/elements", "The slots were replaced.",
			func(c *call, in elementsBody) (*site.SyncedElements, error) {
				return st.SyncSectionElements(c.Context(),
					site.SyncElements{Definition: c.id("section"), Elements: in.Elements, Prune: in.Prune})
			}),
		listOf(base+"/collections", "The collections.",
			func(c *call, q site.Query) (site.List[*site.Collection], error) {
				return st.ListCollections(c.Context(), q)
			}),
		on(post, base+"/collections", "The collection was created.",
			func(c *call, in site.CreateCollection) (*site.Collection, error) {
				return st.CreateCollection(c.Context(), in)
			}),
		on(put, base+"/collections/{collection}", "The collection was changed.",
			func(c *call, in collectionChange) (*site.Collection, error) {
				return st.UpdateCollection(c.Context(), site.UpdateCollection{Collection: c.id("collection"),
					Name: in.Name, Slug: in.Slug, Description: in.Description, Status: in.Status})
			}),
		on(del, base+"/collections/{collection}", "The collection was deleted.",
			func(c *call, _ none) (*site.Removed, error) {
				return st.DeleteCollection(c.Context(), c.id("collection"))
			}),
		on(post, base+"/collections/{collection}/elements", "The slots were replaced.",
			func(c *call, in elementsBody) (*site.SyncedElements, error) {
				return st.SyncCollectionElements(c.Context(),
					site.SyncElements{Definition: c.id("collection"), Elements: in.Elements, Prune: in.Prune})
			}),
	}
}

func (s *server) entryRoutes() []route {
	const entries = base + "/collections/{collection}/entries"
	st := s.Site
	entry := func(c *call, locale string) (*site.Entry, error) {
		return st.GetEntryIn(c.Context(), c.id("collection"), c.id("entry"), locale)
	}
	write := func(c *call, in site.UpsertEntry) (*site.Upserted, error) {
		e, err := entry(c, "") // without one, the upsert would create it
		if err != nil {
			return nil, err
		}
		in.Collection, in.Entry = e.CollectionID, e.ID
		return st.UpsertEntry(c.Context(), in)
	}
	return []route{
		listOf(entries, "The entries.", func(c *call, q site.Query) (site.List[*site.Entry], error) {
			return st.ListEntries(c.Context(), site.ListEntries{Collection: c.id("collection"), Query: q})
		}),
		on(post, entries, "The entry was created.", func(c *call, in entryBody) (*site.Upserted, error) {
			return st.UpsertEntry(c.Context(), site.UpsertEntry{Collection: c.id("collection"), Entry: in.Slug,
				Title: in.Title, Status: in.Status, Locale: cmp.Or(in.Locale, c.locale()), Content: in.Content,
				New: true})
		}, "locale"),
		on(get, entries+"/{entry}", "The entry.", func(c *call, _ none) (*site.Entry, error) {
			return entry(c, c.locale())
		}, "locale"),
		on(put, entries+"/{entry}", "The entry was changed.", func(c *call, in entryBody) (*site.Upserted, error) {
			return write(c, site.UpsertEntry{NewSlug: in.Slug, Title: in.Title, Status: in.Status,
				Locale: cmp.Or(in.Locale, c.locale()), Content: in.Content})
		}, "locale"),
		on(del, entries+"/{entry}", "The entry was deleted.", func(c *call, _ none) (*site.Removed, error) {
			e, err := entry(c, "")
			if err != nil {
				return nil, err
			}
			return st.DeleteEntry(c.Context(), e.ID)
		}),
		on(post, entries+"/order", "The entries were ordered.",
			func(c *call, in []site.EntryOrder) (site.List[*site.Entry], error) {
				if err := st.OrderEntries(c.Context(), c.id("collection"), in); err != nil {
					return site.List[*site.Entry]{}, err
				}
				return st.ListEntries(c.Context(), site.ListEntries{Collection: c.id("collection")})
			}),
		on(get, entries+"/{entry}/contents", "The contents of the entry.",
			func(c *call, _ none) (entryContents, error) {
				e, err := entry(c, c.locale())
				if err != nil {
					return entryContents{}, err
				}
				return entryContents{e.Content}, nil
			}, "locale"),
		on(post, entries+"/{entry}/contents", "The contents were written.",
			func(c *call, in entryContents) (*site.Upserted, error) {
				return write(c, site.UpsertEntry{Locale: c.locale(), Content: in.Content})
			}, "locale"),
	}
}

func (s *server) mediaRoutes() []route {
	st := s.Site
	upload := on(post, base+"/media", "The file was uploaded.", func(c *call, _ none) (*site.Media, error) {
		return s.upload(c)
	})
	upload.file = true
	download := route{Method: get, Path: base + "/media/{media}/download", summary: "The file.", download: true,
		serve: (*server).download}
	return []route{
		listOf(base+"/media", "The media.", func(c *call, q site.Query) (site.List[*site.Media], error) {
			return st.ListMedia(c.Context(), site.ListMedia{Group: c.URL.Query().Get("group"), Query: q})
		}, "group"),
		upload,
		on(get, base+"/media/{media}", "The medium.", func(c *call, _ none) (*site.Media, error) {
			return st.GetMedia(c.Context(), c.id("media"))
		}),
		on(put, base+"/media/{media}", "The medium was changed.", func(c *call, in mediaChange) (*site.Media, error) {
			return st.UpdateMedia(c.Context(), site.UpdateMedia{Media: c.id("media"), Name: in.Name, Alt: in.Alt})
		}),
		on(del, base+"/media/{media}", "The medium was deleted.", func(c *call, _ none) (*site.Media, error) {
			return st.DeleteMedia(c.Context(), c.id("media"))
		}),
		download,
	}
}

// upload stores the file of the field file, with the text of the field alt.
func (s *server) upload(c *call) (*site.Media, error) {
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

func (s *server) navigationRoutes() []route {
	const navigation = base + "/navigations/{navigation}"
	st := s.Site
	return []route{
		on(get, base+"/navigations", "The navigations.", func(c *call, _ none) ([]*site.Navigation, error) {
			return st.ListNavigations(c.Context())
		}),
		on(post, base+"/navigations", "The navigation was created.",
			func(c *call, in navigationBody) (*site.Navigation, error) {
				return st.PutNavigation(c.Context(), site.Navigation{Name: in.Name, Description: in.Description})
			}),
		on(put, navigation, "The navigation was changed.", func(c *call, in navigationBody) (*site.Navigation, error) {
			return st.PutNavigation(c.Context(),
				site.Navigation{ID: c.id("navigation"), Name: in.Name, Description: in.Description})
		}),
		on(del, navigation, "The navigation was deleted.", func(c *call, _ none) (*site.Navigation, error) {
			return st.DeleteNavigation(c.Context(), c.id("navigation"))
		}),
		on(post, navigation+"/items", "The item was added.", func(c *call, in itemBody) (*site.Navigation, error) {
			return st.PutNavItem(c.Context(), c.id("navigation"), in.item(""))
		}),
		on(put, navigation+"/items/{item}", "The item was changed.",
			func(c *call, in itemBody) (*site.Navigation, error) {
				return st.PutNavItem(c.Context(), c.id("navigation"), in.item(c.id("item")))
			}),
		on(del, navigation+"/items/{item}", "The item was deleted.", func(c *call, _ none) (*site.Navigation, error) {
			return st.DeleteNavItem(c.Context(), c.id("navigation"), c.id("item"))
		}),
		on(post, navigation+"/items/sync", "The items were replaced.",
			func(c *call, in itemsBody) (*site.Navigation, error) {
				return st.SyncNavItems(c.Context(), c.id("navigation"), in.Items)
			}),
	}
}

// kinds are the names of the types of resources.
var kinds = map[string]string{"page": site.KindPage, "section_def": site.KindSection, "collection": site.KindCollection,
	"entry": site.KindEntry}

// find returns what a name may mean, as the tool cms.findResource does.
func (s *server) find(ctx context.Context, in resourceQuery) (resources, error) {
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
	found, err := s.Site.Find(ctx, in.Query, filter, min(cmp.Or(max(in.Limit, 0), 3), 50))
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
