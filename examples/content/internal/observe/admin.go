package observe

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// Handler returns the data of /admin, as JSON: /api/admin/dashboard, /api/admin/alerts, for which
// the rules are evaluated, and /api/admin/traces, the newest ones, or with ?traceId= the spans of
// one. The caller checks who may see it.
func (o *Observer) Handler(s *assistant.Services, used func(user string) float64) http.Handler {
	mux := http.NewServeMux()
	on := func(path string, get func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET /api/admin/"+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := get(r)
			if err != nil {
				trace := s.NewTrace()
				o.cfg.Logger.ErrorContext(r.Context(), "request failed", "component", "observe", "trace", trace,
					"path", r.URL.Path, "error", err)
				fail(w, http.StatusInternalServerError, portfolio.ToolExecutionFailed,
					fmt.Sprintf("Something went wrong. The log has more under %s.", trace), trace)
				return
			}
			reply(w, http.StatusOK, v)
		})
	}
	on("dashboard", func(r *http.Request) (any, error) { return o.Dashboard(r.Context(), s, used) })
	on("alerts", func(r *http.Request) (any, error) {
		err := o.evaluate(r.Context(), s, used)
		return map[string]any{"alerts": o.Alerts()}, err
	})
	on("traces", func(r *http.Request) (any, error) {
		if id := r.FormValue("traceId"); id != "" {
			spans, err := o.Trace(r.Context(), s.Agent, id)
			return map[string]any{"spans": spans}, err
		}
		all, err := o.Traces(r.Context(), 50)
		return map[string]any{"traces": all}, err
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, portfolio.InvalidInput,
			fmt.Sprintf("There is no path %s %s.", r.Method, r.URL.Path), s.NewTrace())
	})
	return mux
}

// fail answers with an error, in the form of all errors of the API.
func fail(w http.ResponseWriter, status int, category portfolio.Category, message, trace string) {
	reply(w, status, map[string]any{"success": false,
		"error": assistant.ErrorBody{Category: category, Message: message, TraceID: trace}})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
