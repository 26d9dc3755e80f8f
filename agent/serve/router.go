package serve

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A handler answers a request, or returns why not. session is what the path names, for the paths
// that contain "{session}".
type handler func(w http.ResponseWriter, r *http.Request, session string) *problem

// An adder adds a handler for a path, such as "/chat" or "/chat/{session}/stop".
type adder func(method, path string, h handler)

// A router finds the handler for a request. It isn't an http.ServeMux because that redirects paths
// such as "//", and sessions may contain any character.
type router struct {
	*server
	paths map[string]map[string]handler // by path and method
	named []string                      // the paths with {session}, in the order in which they are tried
	rest  http.Handler                  // for GET of other paths: the page
}

func (rt *router) add(method, path string, h handler) {
	if path == "" {
		path = "/"
	}
	if rt.paths[path] == nil {
		rt.paths[path] = make(map[string]handler)
		if strings.Contains(path, "{session}") {
			rt.named = append(rt.named, path)
		}
	}
	rt.paths[path][method] = h
}

// ServeHTTP answers a request.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = withTrace(r)
	request.Limit(w, r)
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin")
	if origin := r.Header.Get("Origin"); origin != "" && len(rt.cfg.Origins) > 0 {
		head.Add("Vary", "Origin")
		if rt.allowed(origin) {
			head.Set("Access-Control-Allow-Origin", origin)
			head.Set("Access-Control-Allow-Credentials", "true")
			head.Set("Access-Control-Expose-Headers", "Pawl-Code, Pawl-Trace, Retry-After, X-Vercel-Ai-Ui-Message-Stream")
		}
	}
	if r.Header.Get(forwarded) != "" {
		head.Set(forwarded, "1")
	}
	if p := rt.route(w, r); p != nil {
		rt.say(w, r, p)
	}
}

// route finds the handler for a request and calls it.
func (rt *router) route(w http.ResponseWriter, r *http.Request) *problem {
	path, session, bad := rt.find(r.URL.EscapedPath())
	methods := rt.paths[path]
	switch {
	case bad:
		return malformed("the session's name in the path isn't escaped correctly")
	case methods == nil && rt.rest != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		rt.rest.ServeHTTP(w, r)
		return nil
	case methods == nil:
		return fail(http.StatusNotFound, CodeUnknown, fault.NotFound, "there is no such path")
	}
	allow := append(slices.Sorted(maps.Keys(methods)), http.MethodOptions)
	if n := slices.Index(allow, http.MethodGet); n >= 0 {
		allow = slices.Insert(allow, n+1, http.MethodHead)
	}
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", strings.Join(allow, ", "))
		if rt.allowed(r.Header.Get("Origin")) {
			w.Header().Set("Access-Control-Allow-Methods", strings.Join(allow, ", "))
			w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Last-Event-ID, Traceparent, Authorization")
			w.Header().Set("Access-Control-Max-Age", "600")
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	h := methods[r.Method]
	if h == nil && r.Method == http.MethodHead {
		h = methods[http.MethodGet]
	}
	if h == nil {
		p := fail(http.StatusMethodNotAllowed, codeMethod, fault.Invalid, "the methods here are %s",
			strings.Join(allow, ", "))
		p.header = http.Header{"Allow": {strings.Join(allow, ", ")}}
		return p
	}
	if err := rt.sites.Check(r); err != nil {
		return fail(http.StatusForbidden, codeCrossSite, fault.Denied, "a page of another site makes this request")
	}
	select {
	case <-rt.hub.Closing():
		return unavailable(nil)
	default:
	}
	return h(w, r, session)
}

// find returns the path of a request as it was added, and the session in it.
func (rt *router) find(escaped string) (path, session string, bad bool) {
	if _, ok := rt.paths[escaped]; ok || escaped == "" {
		if escaped == "" {
			escaped = "/"
		}
		return escaped, "", false
	}
	for _, known := range rt.named {
		before, after, _ := strings.Cut(known, "{session}")
		if !strings.HasPrefix(escaped, before) || !strings.HasSuffix(escaped, after) ||
			len(escaped) <= len(before)+len(after) {
			continue
		}
		name, err := url.PathUnescape(escaped[len(before) : len(escaped)-len(after)])
		return known, name, err != nil
	}
	return escaped, "", false
}
