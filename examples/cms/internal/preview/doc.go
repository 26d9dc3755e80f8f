// Package preview shows the pages of a site as visitors see them: it renders them with templates,
// and serves them.
//
//	r, err := preview.New(preview.Config{Site: s})
//	if err != nil {
//		return err
//	}
//	http.ListenAndServe("localhost:4000", r.Handler())
//
// # Templates
//
// Templates are files, embedded or in a folder (Config.Templates): layout/page.html,
// sections/KEY/VARIANT.html for the sections whose definition has the template key KEY,
// sections/_default.html for all others, which shows every slot, and assets. A section's template
// gets a [site.TreeSection]. Besides the functions of html/template there are markdown, which
// renders Markdown and removes everything that could run or load something, plain, which returns
// its first paragraph as text, truncate, and asset.
//
// # Paths
//
//	GET /                       the page home
//	GET /pages/{slug}           a page; ?locale= selects the language, also an inactive one
//	GET /pages/{slug}/raw       what the templates of the page get, as JSON
//	GET /{slug}                 the same, so that links work as on the public site
//	GET /{collection}/{entry}   an entry
//	…?session=&call=            how it would be after a pending call (Config.After)
//	GET /assets/…, /uploads/…   files
//	GET /assets/events          server-sent events: "revision" with the number of the site's newest change
//
// # In a frame
//
// Each section has the attributes data-section (its id), data-kind and data-name, such as: the hero
// “Welcome”. If the address of a frame has ?frame= with the origin of the page around it, the page
// in the frame posts to that origin {pawl: "shown", slug, path, title, status, missing, entry} when
// it was loaded, and {pawl: "section", id, kind, name, slug} on a click on a section, and takes
// {pawl: "highlight", id} from it. A form says that a preview sends nothing.
//
// A rendered page loads itself again when the site changes, whichever process changes it, so a
// frame beside a chat shows the agent's work as it happens. Nothing is cached: each request renders
// the current state.
package preview
