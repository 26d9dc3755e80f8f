package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Local is access for programs without a login, whose only user is the person at this computer:
//
//	serve.Config{Authorize: serve.Local{}.Authorize}
//
// It is the check and the permission in one, so that neither can be left out. It admits a request
// only if
//
//   - it has reached a loopback address, such as 127.0.0.1, and not one of a network
//   - its Host is localhost or a loopback address, with the port that it has reached: a page whose
//     name was made to resolve to this computer (DNS rebinding) has another one
//   - its Origin, if it has one, is such an address with the same port: other pages on this
//     computer, such as those of another program, are as foreign as all others
//   - a browser doesn't say that a page of another site or port makes it, except to open it in a
//     tab, or, if there are Origins, in a frame of another port
//   - no proxy says that it forwards it for somebody elsewhere.
//
// Use [Local.Handler] for the paths of the host beside these handlers.
type Local struct {
	// User is who makes the requests; empty: "local".
	User string
	// Origins are further addresses on this computer whose pages may make requests, such as
	// "http://localhost:3000", if a page has a server of its own or a port is forwarded. The Host
	// of a request may be theirs, too. To let pages read answers, list them in Config.Origins as
	// well. A browser says of a frame only that its page is of this computer, not of which
	// port: to keep other programs from showing yours, send a Content-Security-Policy with
	// frame-ancestors.
	Origins []string
}

// Authorize is for Config.Authorize. Refused requests get status 403, and a line in the log says
// why.
func (l Local) Authorize(r *http.Request, _ string, _ Action) (user string, err error) {
	if err := l.check(r); err != nil {
		return "", err
	}
	if l.User != "" {
		return l.User, nil
	}
	return "local", nil
}

// Handler returns a handler that passes to next only what Authorize permits. It answers other
// requests with status 403 and a sentence.
func (l Local) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := l.check(r); err != nil {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var errForwarded = errors.New("a proxy forwards this request, and this program has no login: only this computer may use it")

// check returns why a request isn't one of this computer's own.
func (l Local) check(r *http.Request) error {
	reached, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if reached == nil || !reached.IP.IsLoopback() {
		return errors.New("this program has no login, so it answers only at loopback addresses; use http://localhost")
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if !l.admits(scheme, r.Host, reached.Port) {
		return fmt.Errorf("this program isn't known as %.100q; use http://localhost:%d", r.Host, reached.Port)
	}
	if err := l.forwarded(r, scheme); err != nil {
		return err
	}
	origins := r.Header["Origin"]
	for _, origin := range origins {
		scheme, host, _ := strings.Cut(origin, "://")
		if !l.admits(scheme, host, reached.Port) {
			return fmt.Errorf("requests of pages of %.100q aren't accepted", origin)
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if len(origins) == 0 && site != "" && site != "same-origin" && site != "none" && !l.opens(r) {
		return errors.New("requests of pages of other sites and ports aren't accepted")
	}
	return nil
}

// admits reports whether an address is one of this program: a loopback name with the port, or one
// of Origins.
func (l Local) admits(scheme, host string, port int) bool {
	if scheme != "http" && scheme != "https" || strings.ContainsAny(host, "/@?#") {
		return false
	}
	u, err := url.Parse(scheme + "://" + host)
	if err != nil || u.Host == "" {
		return false
	}
	for _, origin := range l.Origins {
		if strings.EqualFold(scheme+"://"+host, strings.TrimSuffix(origin, "/")) {
			return true
		}
	}
	given := u.Port()
	if given == "" {
		given = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return given == strconv.Itoa(port) && loopback(u.Hostname())
}

// loopback reports whether a host's name always means this computer.
func loopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.Zone() == "" && addr.Unmap().IsLoopback()
}

// forwarded returns an error if a proxy has made the request for somebody who isn't at this
// computer.
func (l Local) forwarded(r *http.Request, scheme string) error {
	if len(r.Header["Forwarded"]) > 0 {
		return errForwarded
	}
	for _, name := range []string{"X-Forwarded-For", "X-Real-Ip"} {
		for _, value := range r.Header[name] {
			for client := range strings.SplitSeq(value, ",") {
				if !loopback(strings.TrimSpace(client)) {
					return errForwarded
				}
			}
		}
	}
	for _, host := range r.Header["X-Forwarded-Host"] {
		if u, err := url.Parse(scheme + "://" + host); err != nil || !loopback(u.Hostname()) {
			return errForwarded
		}
	}
	return nil
}

// opens reports whether a browser opens the address in a tab, as for a link, or in a frame.
func (l Local) opens(r *http.Request) bool {
	where, site := r.Header.Get("Sec-Fetch-Dest"), r.Header.Get("Sec-Fetch-Site")
	return slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		(where == "document" || where == "iframe" && len(l.Origins) > 0 && site == "same-site")
}
