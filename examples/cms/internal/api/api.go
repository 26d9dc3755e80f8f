package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// Config configures the API. Site and Hub are required.
type Config struct {
	Site *site.Site
	Hub  *live.Hub // of the agent whose sessions are served
	// Origins are the pages that may make requests, such as "http://localhost:3000", besides those
	// of the server itself.
	Origins []string
	Logger  *slog.Logger // nil: slog.Default()
}

type server struct {
	Site *site.Site
	hub  *live.Hub
	log  *slog.Logger
}

// New returns the handler of the API.
func New(cfg Config) (http.Handler, error) {
	if cfg.Site == nil || cfg.Hub == nil {
		return nil, errors.New("api: Config.Site and Config.Hub are required")
	}
	s := &server{Site: cfg.Site, hub: cfg.Hub, log: cfg.Logger}
	if s.log == nil {
		s.log = slog.Default()
	}
	mux := http.NewServeMux()
	for _, rt := range append(s.contentRoutes(), s.sessionRoutes()...) {
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
			defer s.recovered(w, r)
			rt.serve(s, w, r)
		})
	}
	mux.Handle("GET /uploads/", cfg.Site.ServeUploads())
	mux.HandleFunc("/", s.noRoute(mux))
	return Guard(cfg.Origins, overrideMethod(mux)), nil
}

// recovered answers after a panic, which is logged.
func (s *server) recovered(w http.ResponseWriter, r *http.Request) {
	if v := recover(); v != nil {
		s.failed(w, r, fmt.Errorf("panic: %v", v))
	}
}

// noRoute answers if no route has the path, or none with the method.
func (s *server) noRoute(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var methods []string
		for _, method := range []string{get, post, put, patch, del} {
			if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "/" {
				methods = append(methods, method)
			}
		}
		if len(methods) > 0 {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			fail(w, http.StatusMethodNotAllowed, "VALIDATION_ERROR",
				r.Method+" isn't possible here; use "+strings.Join(methods, " or "), nil)
			return
		}
		fail(w, http.StatusNotFound, "NOT_FOUND", "there is no route "+r.URL.Path, nil)
	}
}
