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
// renders Markdown and removes everything that could run or load something, truncate, and asset.
//
// # Paths
//
//	GET /                       the page home
//	GET /pages/{slug}           a page; ?locale= selects the language, also an inactive one
//	GET /pages/{slug}/raw       what the templates of the page get, as JSON
//	GET /{slug}                 redirects to /pages/{slug}, so that links work as on the public site
//	GET /{collection}/{entry}   an entry
//	GET /assets/…, /uploads/…   files
//	GET /events                 server-sent events: "revision" with the number of the site's newest change
//
// A rendered page loads itself again when the site changes, whichever process changes it, so a
// frame beside a chat shows the agent's work as it happens. Nothing is cached: each request renders
// the current state.
package preview
