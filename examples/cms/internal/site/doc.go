// Package site is a small content management system in one SQLite file: pages made of sections,
// collections made of entries, contents in several locales, uploaded files, and menus.
//
// A [Site] is the open file. Its methods take and return plain structs with JSON tags, so that each
// can be a tool. Their errors are written for the caller, which may be a model: an [Error] says
// what was wrong and how to correct it.
//
//	s, err := site.Open("site.db")
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	page, err := s.CreatePage(ctx, site.CreatePage{
//		Name:     "About us",
//		Sections: []site.NewSection{{Section: "hero", Content: map[string]any{"title": "Who we are"}}},
//	})
//
// A new file holds the site of a bakery, from the folder seed: the pages home, services and blog, a
// menu, nine kinds of sections (hero, text, feature, columns, gallery, quote, entries, form and
// cta), the collection blog with three entries, four pictures among the uploaded files, and the
// locales en (active) and de (inactive: it can be written and previewed, and visitors don't see
// it). [Small] makes it hold less. New pages and entries are drafts until they are published.
//
// # Guarantees
//
//   - Every method is one transaction. A method that returns an error has written nothing.
//   - A Site is safe for concurrent use, and several processes may share a file. Other programs may
//     keep their tables in the file if they create them after this package. Updates of different
//     fields, meta keys or slots never undo each other. A write waits up to 15 s for another
//     process, then fails with CodeBusy.
//   - A write that has returned survives a power failure.
//   - Contents match their section's or collection's definition when they are written. Fields that
//     a definition no longer has a slot for are kept in the file and left out when read.
//   - Searches ([Site.Find]) use the current content of the file, whichever process wrote it.
//   - Lists have a fixed order and 50 items by default, at most 200.
//   - A request whose context has a key ([WithKey]) takes effect once, however often it is made.
//   - Deletions return what [Site.RestorePage], [Site.RestoreSection] and [Site.Restore] need to
//     undo them, and changes return what was before.
//   - Changes can be tried on a copy ([Site.Copy]).
//   - A full disk, a read-only and a deleted file are an [Error] with CodeFull or CodeStorage.
//   - An uploaded file is at most 16 MiB, and of the type that its first bytes and its extension
//     say. It is in the folder uploads beside the file, complete before its row is stored.
//   - [Site.Watch] tells when anything has changed, whichever process changed it.
//
// # Where things are
//
// open.go opens and migrates with the files in migrations, site.go begins and ends transactions,
// txn.go has their statements, lookup.go finds and lists objects, and each other file has one kind
// of object. content.go checks values against slots, elements.go slots themselves, kinds.go is what
// the definitions of sections and of collections have in common, delete.go deletes and restores,
// tree.go is what visitors see, find.go and whole.go search.
package site
