package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/api"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// The commands, besides approvals.
const (
	cmdServe   = "serve" // without a command, too
	cmdChat    = "chat"
	cmdHistory = "history"
	cmdPreview = "preview"
	cmdSeed    = "seed"
	cmdReset   = "reset"
	cmdExport  = "export"
)

var commands = []string{cmdServe, cmdChat, cmdHistory, cmdPreview, cmdSeed, cmdReset, cmdExport}

// shutdown is how long open requests may take after a signal. Streams end at once.
const shutdown = 5 * time.Second

// runCommand runs a command other than approvals and reset, and returns the exit status.
func (p *program) runCommand(ctx context.Context) int {
	var err error
	switch p.cmd {
	case cmdChat:
		return p.chat(ctx)
	case cmdHistory:
		return p.history(ctx)
	case cmdServe, cmdPreview:
		err = p.serve(ctx)
	case cmdSeed:
		if err = p.site.Seed(ctx); err == nil {
			p.out.line("%s has the contents of a new site. Conversations were kept.", p.db)
		}
	case cmdExport:
		err = p.exportSite(ctx)
	}
	if err != nil {
		fmt.Fprintln(p.err, "cms:", err)
		return exitFailed
	}
	return exitOK
}

// reset deletes the file with all contents, conversations and uploads.
func reset(ctx context.Context, db string) error {
	if _, err := os.Stat(db); err != nil {
		return fmt.Errorf("there is nothing to reset: %w", err)
	}
	return site.Reset(ctx, db)
}

// exportSite prints all contents as JSON.
func (p *program) exportSite(ctx context.Context) error {
	all, err := p.site.Export(ctx)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	p.out.line("%s", text)
	return nil
}

// serve serves the preview, and for the command serve also the API and the page, until ctx ends or
// a signal comes.
func (p *program) serve(ctx context.Context) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	preview, err := net.Listen("tcp", p.previewAddr)
	if err != nil {
		return fmt.Errorf("-preview: %w", err)
	}
	servers := []*server{newServer("preview", preview, p.renderer.Handler())}
	if p.cmd == cmdServe {
		more, err := p.agentServers(p.hub)
		if err != nil {
			return errors.Join(err, preview.Close())
		}
		servers = append(more, servers...)
	}
	fmt.Fprint(p.err, p.banner())
	for _, s := range servers {
		p.out.line("%-8s http://%s/", s.name, s.listener.Addr())
	}
	p.out.line("Ctrl-C ends it.")
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	if p.openPage {
		beside.Go(func() {
			if err := openInBrowser(ctx, "http://"+servers[0].listener.Addr().String()+"/"); err != nil &&
				ctx.Err() == nil {
				fmt.Fprintln(p.err, "cms: -open:", err)
			}
		})
	}
	ended := make(chan error, 1)
	beside.Go(func() {
		ended <- serveAll(ctx, servers[1:])
		stop()
	})
	beside.Go(func() {
		<-p.hub.Closing()
		stop() // ends the other servers, and their streams
	})
	return errors.Join(live.Serve(ctx, p.hub, &servers[0].Server, servers[0].listener), <-ended)
}

// agentServers returns the servers of the page and of the API.
func (p *program) agentServers(hub *live.Hub) ([]*server, error) {
	page, err := net.Listen("tcp", p.addr)
	if err != nil {
		return nil, fmt.Errorf("-addr: %w", err)
	}
	apiListener, err := net.Listen("tcp", p.apiAddr)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("-api: %w", err), page.Close())
	}
	origin := "http://" + page.Addr().String()
	rest, err := api.New(api.Config{Site: p.site, Hub: hub, Origins: []string{origin}})
	var own, guarded http.Handler
	if err == nil {
		own, err = assistant.New(assistant.Config{
			Hub: hub, User: p.by, Title: "Site assistant", Note: p.note(), Preview: "http://" + p.previewAddr,
			System: systemText,
			Examples: []string{"Create an About page with a hero titled Hello", "What pages exist?",
				"Delete the home page"},
		})
	}
	if err == nil {
		guarded, err = api.Guard([]string{origin}, own)
	}
	if err != nil {
		return nil, errors.Join(err, page.Close(), apiListener.Close())
	}
	both := withAgent(rest, guarded) // the page reads the API, too
	return []*server{newServer("page", page, both), newServer("api", apiListener, both)}, nil
}

// openInBrowser opens an address with the program that the system uses for that.
func openInBrowser(ctx context.Context, address string) error {
	program := map[string][]string{"darwin": {"open"},
		"windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	return exec.CommandContext(ctx, program[0], append(program[1:], address)...).Run()
}

// withAgent adds the page and the paths of the agent to those of the API.
func withAgent(rest, own http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/{$}", "/assistant/", "/v1/agent/", "/api/agent", "/api/agent/"} {
		mux.Handle(path, own)
	}
	mux.Handle("/", rest)
	return mux
}

// note says on the page which model answers.
func (p *program) note() string {
	if p.label == model.Label {
		return "A built-in stand-in answers, not a real model. Write help to see what it understands."
	}
	return "Model: " + p.label
}

// A server is an HTTP server that listens already.
type server struct {
	name     string
	listener net.Listener
	http.Server
}

func newServer(name string, l net.Listener, h http.Handler) *server {
	return &server{name: name, listener: l,
		Server: http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}}
}

// serveAll serves until ctx ends or a server fails, and then ends all of them. Without servers it
// waits for the end of ctx.
func serveAll(ctx context.Context, servers []*server) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, len(servers))
	for _, s := range servers {
		s.BaseContext = func(net.Listener) context.Context { return ctx } // ends streams
		go func() {
			ended <- s.Serve(s.listener)
			stop()
		}()
	}
	<-ctx.Done()
	limit, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	for _, s := range servers {
		if failed := s.Shutdown(limit); failed != nil {
			err = cmp.Or(err, s.Close())
		}
	}
	for range servers {
		if failed := <-ended; !errors.Is(failed, http.ErrServerClosed) {
			err = cmp.Or(err, failed)
		}
	}
	return err
}
