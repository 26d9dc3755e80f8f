package api

import (
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/agent/serve"
)

// Guard protects a handler that has no login, as [serve.Local] does: it refuses requests of foreign
// pages, and requests under names that aren't those of this computer, which a page could have made
// resolve to it. Pages of the origins, such as "http://localhost:3000", may make requests and read
// the answers. Other handlers on the same server need it, too.
func Guard(origins []string, next http.Handler) http.Handler {
	local := serve.Local{Origins: origins}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := local.Authorize(r, "", serve.ActionRead); err != nil {
			fail(w, http.StatusForbidden, "FORBIDDEN", err.Error(), nil)
			return
		}
		if origin := r.Header.Get("Origin"); slices.Contains(origins, origin) {
			head := w.Header()
			head.Set("Access-Control-Allow-Origin", origin)
			head.Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				head.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
				head.Set("Access-Control-Allow-Headers", "Content-Type, Last-Event-ID")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
