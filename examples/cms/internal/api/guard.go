package api

import (
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/agent/serve"
)

// Guard protects a handler that has no login: it refuses requests of foreign pages that would
// change something, and requests under names that aren't those of this computer, which a page could
// have made resolve to it. Pages of the origins, such as "http://localhost:3000", may make all
// requests. Other handlers on the same server need it, too.
func Guard(origins []string, next http.Handler) (http.Handler, error) {
	cross, local := http.NewCrossOriginProtection(), serve.Local{Origins: origins}
	for _, o := range origins {
		if err := cross.AddTrustedOrigin(o); err != nil {
			return nil, err
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusForbidden, "FORBIDDEN",
			"requests of pages of "+r.Header.Get(
				"Origin")+" aren't accepted; list the origin when the server is started", nil)
	}))
	checked := cross.Handler(next)
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
		checked.ServeHTTP(w, r)
	}), nil
}
