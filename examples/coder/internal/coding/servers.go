package coding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// A Server is a server of MCP, as files for other programs write it.
type Server struct {
	Name    string            `json:"-"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Trusted says that what its tools say about themselves, such as that they only read, is true.
	Trusted  bool     `json:"trusted,omitempty"`
	Only     []string `json:"only,omitempty"` // the tools that are offered; empty: all
	Disabled bool     `json:"disabled,omitempty"`
}

// ReadServers reads a file of the form {"mcpServers": {"name": {"command": "…", "args": […]}}}.
func ReadServers(path string) (list []Server, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all struct {
		Servers map[string]Server `json:"mcpServers"`
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w; it has {\"mcpServers\": {\"name\": {\"command\": …, \"args\": […]}}}, or \"url\"",
			path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(all.Servers)) {
		s := all.Servers[name]
		s.Name = name
		list = append(list, s)
	}
	return list, nil
}

// A server is one that can be switched off.
type server struct {
	*mcp.Server
	at     string // its program or address
	off    atomic.Bool
	failed atomic.Value // a string: why it couldn't be reached
	wrong  atomic.Value // a string: what is wrong with its tools, a line each
}

// changed takes what is wrong with the tools of the server.
func (s *server) changed(c mcp.Change) {
	var lines strings.Builder
	for _, e := range c.Refused {
		fmt.Fprintln(&lines, "    ", e)
	}
	for _, note := range c.Notes {
		fmt.Fprintln(&lines, "    ", note)
	}
	s.wrong.Store(lines.String())
}

// List lists the tools that are offered. A server that is off is never connected to.
func (s *server) List(ctx context.Context) ([]tools.Tool, error) {
	if s.off.Load() {
		return nil, nil
	}
	list, err := s.Server.List(ctx)
	s.failed.Store(strings.TrimSuffix(fmt.Sprint(" · ", err), " · <nil>"))
	return list, err
}

// connect makes the servers, which are connected to when a run first needs them.
func (c *Coder) connect() error {
	var switched map[string]bool
	text, err := os.ReadFile(c.beside("mcp.json"))
	if err == nil {
		err = json.Unmarshal(text, &switched)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; delete it to begin anew", c.beside("mcp.json"), err)
	}
	for _, s := range c.Servers {
		cfg := mcp.Config{Name: s.Name, URL: s.URL, Dir: c.Dir, Trusted: s.Trusted, Only: s.Only, Logger: c.Logger}
		at := s.URL
		if s.Command != "" {
			cfg.Command = append([]string{s.Command}, s.Args...)
			at = s.Command
		}
		for name, value := range s.Env {
			cfg.Env = append(cfg.Env, name+"="+value)
		}
		if len(s.Headers) > 0 {
			cfg.Header = func(context.Context, string) (http.Header, error) {
				headers := make(http.Header)
				for name, value := range s.Headers {
					headers.Set(name, value)
				}
				return headers, nil
			}
		}
		one := &server{at: at}
		cfg.OnChange = one.changed
		made, err := mcp.New(cfg)
		if err != nil {
			return fmt.Errorf("the server %q of MCP: %w", s.Name, err)
		}
		c.closers = append(c.closers, made.Close)
		one.Server = made
		off, known := switched[s.Name]
		one.off.Store(off || s.Disabled && !known)
		c.servers = append(c.servers, one)
	}
	return nil
}

// Switch switches a server on or off, from the next run on and for the next start, too.
func (c *Coder) Switch(name string, on bool) error {
	s, err := c.server(name)
	if err != nil {
		return err
	}
	s.off.Store(!on)
	switched := make(map[string]bool)
	for _, s := range c.servers {
		switched[s.Name()] = s.off.Load()
	}
	text, err := json.Marshal(switched)
	if err != nil {
		return err
	}
	return os.WriteFile(c.beside("mcp.json"), text, 0o600)
}

func (c *Coder) server(name string) (*server, error) {
	if i := slices.IndexFunc(c.servers, func(s *server) bool { return s.Name() == name }); i >= 0 {
		return c.servers[i], nil
	}
	return nil, fmt.Errorf("there is no server %q; /mcp lists them", name)
}
