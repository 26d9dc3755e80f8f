package server

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/pawlkit/pawl/agent/serve/page"
)

//go:embed web
var web embed.FS

// contentSecurity lets the pages load their own files, talk to their own server and show its
// images. They run no inline code.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Pages returns the handler of the pages, for [Config]: /, /portfolio, /artifacts/{id}, /admin and
// /login are the same file, whose scripts show what the address says. Its files are below /app/;
// those that it shares with the chat are below /agent/page/.
func Pages() http.Handler {
	files, _ := fs.Sub(web, "web") // the name is valid
	mux := http.NewServeMux()
	mux.Handle("GET /agent/page/", http.StripPrefix("/agent", page.Assets()))
	mux.Handle("GET /app/{file}", http.StripPrefix("/app/", http.FileServerFS(files)))
	for _, path := range []string{"/{$}", "/portfolio", "/artifacts/{id}", "/admin", "/login"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, files, "page.html")
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", contentSecurity)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		mux.ServeHTTP(w, r)
	})
}
