// Package page has the chat page of package agent/serve: its files, and what turns the events of a
// session into what the page shows.
//
// The page is plain HTML, CSS and JavaScript modules, embedded in the binary. [Assets] serves them
// under any prefix with a strict Content Security Policy: no inline code, no other hosts. Package
// serve mounts it together with the paths that the page uses; a host needs this package only if it
// writes its own server.
//
// A [View] turns events into patches, which the page applies:
//
//	v := page.NewView(page.ViewConfig{Session: "s-1"})
//	for ev, err := range hub.Watch(ctx, "s-1", after) {
//		…
//		patches := v.Event(ev)
//		…
//	}
//
// # Guarantees
//
//   - The page shows the same, whether it has read all patches, or was disconnected and reads on
//     from a later fact with a new View.
//   - Text that streams is shown as HTML blocks. A finished block is sent once; only the last one
//     is sent again. The reply as it is recorded wins.
//   - Markdown of models is rendered here. What comes out contains no code, no images from
//     elsewhere, no styles, and links only to http, https and mailto. Raw HTML is shown as text.
//     Everything else is text, which the page inserts as text.
//   - Events of subagents are left out, except for their pauses.
//
// # Where things are
//
// assets.go serves the files, view.go turns events into patches, with the types in patch.go, calls
// and pauses in calls.go and streaming text in reply.go. past.go begins with the newest items of a
// long session. markdown.go renders. In assets, page.js
// puts the page together, also in an element of a host's own page; conversation.js shows the
// patches; texts.js has all words; tokens.css has all colors and sizes.
package page
