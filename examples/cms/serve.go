package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/cms/internal/api"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/preview"
)

// A door is an address at which the program listens, and what it serves there.
type door struct {
	name, flag, addr string
	listener         net.Listener
	port             int
	handler          http.Handler
}

// url returns the address with the name that was asked for: a browser takes localhost and 127.0.0.1
// for two sites.
func (d *door) url() string {
	host, _, _ := net.SplitHostPort(d.addr)
	return fmt.Sprintf("http://%s", net.JoinHostPort(host, fmt.Sprint(d.port)))
}

// origins returns all names of the address.
func (d *door) origins() []string {
	return []string{fmt.Sprintf("http://localhost:%d", d.port), fmt.Sprintf("http://127.0.0.1:%d", d.port)}
}

// Doors are those of the page, the API and the preview.
type doors [3]*door

// listen opens the doors, which the caller closes. If addresses are taken, the error names all of
// them.
func (o *options) listen() (all doors, err error) {
	all = doors{{name: "page", flag: "-addr", addr: o.addr}, {name: "api", flag: "-api", addr: o.api},
		{name: "preview", flag: "-preview", addr: o.preview}}
	for _, d := range all {
		var failed error
		if d.listener, failed = net.Listen("tcp", d.addr); failed != nil {
			err = errors.Join(err, fmt.Errorf("the %s (%s): %w", d.name, d.flag, failed))
		} else {
			d.port = d.listener.Addr().(*net.TCPAddr).Port
		}
	}
	if err != nil {
		err = fmt.Errorf("%w\nend the program that has these ports, perhaps another cms, or choose others with these "+
			"flags: 0 is any free port", err)
	}
	return all, err
}

func (all doors) close() {
	for _, d := range all {
		if d.listener != nil {
			d.listener.Close()
		}
	}
}

// serve serves the page, the API and the preview until ctx ends or a signal comes. Then runs come
// to a safe point, and requests in progress end.
func (o *options) serve(ctx context.Context, out, errs io.Writer) (code int, err error) {
	fmt.Fprintln(out, o.about)
	all, err := o.listen()
	defer all.close()
	if err != nil {
		return 2, err
	}
	p, err := o.open(all[2].url(), errs)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.furnish(all[0], all[1], all[2]); err != nil {
		return 1, err
	}
	for _, d := range all {
		fmt.Fprintf(out, "%-8s %s/\n", d.name, d.url())
	}
	fmt.Fprintf(out, "The site is in %s. Ctrl-C ends the program.\n", p.site.Path())
	requests, end := context.WithCancel(context.WithoutCancel(ctx)) // streams end when the hub closes
	ctx, stop := context.WithCancel(ctx)
	var http1 http.Protocols // nothing else without TLS; what sets up HTTP/2 isn't for several listeners
	http1.SetHTTP1(true)
	server := &http.Server{Handler: all, Protocols: &http1, ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    slog.NewLogLogger(p.log.Handler(), slog.LevelWarn)}
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() { <-p.hub.Closing(); end() })
	for _, d := range all[1:] {
		beside.Go(func() { _ = server.Serve(d.listener); stop() }) // all of them end together
	}
	if o.openPage {
		beside.Go(func() { openInBrowser(ctx, all[0].url()+"/") })
	}
	return 0, live.Serve(ctx, p.hub, server, all[0].listener)
}

// ServeHTTP serves what is behind the door that a request has come to.
func (all doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	for _, d := range all {
		if at != nil && at.Port == d.port {
			d.handler.ServeHTTP(w, r)
			return
		}
	}
}

// furnish makes what is behind the doors. The page and the API are the same, so that the page needs
// no other origin, and clients of the API nothing but it.
func (p *program) furnish(page, rest, shown *door) error {
	contents, err := api.New(api.Config{Site: p.site, Hub: p.hub, Origins: page.origins(), Logger: p.log})
	if err != nil {
		return err
	}
	own, err := assistant.New(assistant.Config{Hub: p.hub, User: user, Title: "Site assistant", Note: p.about,
		Preview: shown.url(), System: systemText, Logger: p.log, Examples: []string{
			"Create an About page with a hero titled Hello", "Create a contact page with a form",
			"What pages exist?"}})
	if err != nil {
		return err
	}
	own = api.Guard(page.origins(), p.checked(own))
	cfg := preview.Config{Site: p.site, Logger: p.log, After: assistant.After(p.hub, p.tools)}
	if p.templates != "" {
		cfg.Templates, cfg.Development = fs.FS(os.DirFS(p.templates)), true
	}
	renderer, err := preview.New(cfg)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", contents)
	for _, path := range []string{"/{$}", "/assistant/", "/v1/agent/", "/api/agent", "/api/agent/"} {
		mux.Handle(path, own)
	}
	page.handler, rest.handler = mux, mux
	shown.handler = serve.Local{Origins: page.origins()}.Handler(renderer.Handler())
	return nil
}

// checked refuses what would change something while the file can't be written, because only the
// site says why in words.
func (p *program) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if r.Method == http.MethodPost {
			err = p.site.Check(r.Context())
		}
		if err == nil {
			next.ServeHTTP(w, r)
			return
		}
		p.log.ErrorContext(r.Context(), "a request failed", "path", r.URL.Path, "error", err)
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(map[string]any{"title": "Service Unavailable",
			"status": http.StatusServiceUnavailable, "code": "storage", "detail": err.Error()})
	})
}

// openInBrowser opens an address with the program that the system uses for that.
func openInBrowser(ctx context.Context, address string) {
	program := map[string][]string{"darwin": {"open"},
		"windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	_ = exec.CommandContext(ctx, program[0], append(program[1:], address)...).Run() // the address is printed, too
}
