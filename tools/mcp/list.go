package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// list returns the tools, and asks the server for them if they may have changed.
func (c *conn) list(ctx context.Context) ([]tools.Tool, error) {
	if c.listing.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	defer c.listing.Release(1)
	ask := c.asks()
	c.mu.Lock()
	known, wait, changes := c.tools, c.lists.wait(), c.changes
	open := c.session != nil
	fresh := c.listed && time.Since(c.asked) <= c.server.cfg.Refresh && (open || c.dials.err == nil)
	c.mu.Unlock()
	switch {
	case fresh: // also if the connection was closed because nobody used it
		return known, nil
	case !open && ask != nil:
		return []tools.Tool{c.signInTool()}, nil
	case wait != nil:
		return nil, wait
	}
	var found *listing
	err := c.do(ctx, true, func(ctx context.Context, s *session) (err error) {
		found, err = c.ask(ctx, s)
		return err
	})
	var apart *ConnectError
	switch {
	case errors.As(err, &ask):
		return []tools.Tool{c.signInTool()}, nil
	case err != nil && (ctx.Err() != nil || errors.Is(err, ErrClosed) || errors.As(err, &apart)):
		return nil, err
	}
	c.mu.Lock()
	if err != nil {
		defer c.mu.Unlock()
		return nil, c.lists.failed(c.server.cfg.Name, err)
	}
	c.tools, c.listed, c.asked, c.lists = found.tools, c.changes == changes, time.Now(), failures{}
	c.mu.Unlock()
	c.report(known, found)
	return found.tools, nil
}

// A listing is what a server has listed.
type listing struct {
	tools   []tools.Tool
	refused []*SchemaError
	notes   []string
}

// ask asks the server for its tools.
func (c *conn) ask(ctx context.Context, s *session) (*listing, error) {
	cfg := &c.server.cfg
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Connect,
		fault.Errorf(fault.Transient, "it didn't list its tools within %s", cfg.Connect))
	defer cancel()
	out := &listing{}
	names := make(map[string]string) // what the server says of the tool of a name
	for _, t := range c.ownTools() {
		names[t.Name()] = "ours"
		out.tools = append(out.tools, t)
	}
	listed, n, texts, missing := 0, 0, 0, slices.Clone(cfg.Only)
	for page, err := range c.pages(ctx, s, out) {
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			if listed++; listed > maxListed {
				return nil, fault.Errorf(fault.Permanent, "it lists more than %d tools", maxListed)
			}
			if len(cfg.Only) > 0 && !slices.Contains(cfg.Only, t.Name) {
				continue
			}
			if n++; n > maxTools {
				return nil, fault.Errorf(fault.Permanent,
					"it lists more than %d tools; name those that you need in Config.Only", maxTools)
			}
			missing = slices.DeleteFunc(missing, func(own string) bool { return own == t.Name })
			name := c.server.toolName(t.Name)
			said, err := json.Marshal(t)
			if err == nil && names[name] == string(said) { // on two pages
				continue
			}
			if texts += sizeOf(t); texts > maxTexts {
				texts -= sizeOf(t)
				err = fmt.Errorf("with it, the descriptions and schemas of the server's tools have more than %d bytes; "+
					"name those that you need in Config.Only", maxTexts)
			}
			var d *tools.Definition
			if err == nil {
				d, err = c.use(s, t, names, out)
			}
			if err != nil {
				out.refused = append(out.refused, &SchemaError{Tool: name, Err: err})
				continue
			}
			names[name] = string(said)
			out.tools = append(out.tools, d)
		}
	}
	for _, own := range missing {
		out.refused = append(out.refused, &SchemaError{Tool: c.server.toolName(own),
			Err: errors.New("Config.Only names it, but the server has no such tool")})
	}
	slices.SortFunc(out.tools, func(a, b tools.Tool) int {
		return cmp.Compare(a.(*tools.Definition).Name(), b.(*tools.Definition).Name())
	})
	return out, nil
}

// pages asks for the pages of the list. A cursor that comes twice, or is too long, ends it.
func (c *conn) pages(ctx context.Context, s *session, out *listing) iter.Seq2[[]*mcp.Tool, error] {
	return func(yield func([]*mcp.Tool, error) bool) {
		params, seen := &mcp.ListToolsParams{}, make(map[string]bool)
		for n := 1; ; n++ {
			page, err := s.ListTools(ctx, params)
			if err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				yield(nil, err)
				return
			}
			next := page.NextCursor
			if !yield(page.Tools, nil) || next == "" {
				return
			}
			note := ""
			switch {
			case seen[next]:
				note = fmt.Sprintf("goes on at %q twice", tools.Cut(next, 100))
			case len(next) > maxCursor:
				note = fmt.Sprintf("goes on at a cursor of more than %d bytes", maxCursor)
			case n == maxPages:
				note = fmt.Sprintf("has more than %d pages", maxPages)
			}
			if note != "" {
				out.notes = append(out.notes, "the list of tools "+note+": the tools so far are used")
				return
			}
			seen[next], params = true, &mcp.ListToolsParams{Cursor: next}
		}
	}
}

// sizeOf returns how many bytes the texts of a tool have that are kept.
func sizeOf(t *mcp.Tool) int {
	n := len(t.Name) + min(len(t.Description), maxDescription)
	for _, v := range []any{t.InputSchema, t.OutputSchema} {
		if raw, err := json.Marshal(v); err == nil {
			n += len(raw)
		}
	}
	return n
}

// ownTools returns the tools that aren't the server's.
func (c *conn) ownTools() (list []*tools.Definition) {
	if c.server.cfg.SignIn != nil { // also after somebody has signed in: the call that waited for it needs its tool
		list = append(list, c.signInTool())
	}
	if c.server.cfg.Resources {
		list = append(list, c.resourceTools()...)
	}
	return list
}

// toolName returns the name of a tool for models: with that of the server, without characters that
// providers refuse, and of at most 128 bytes. Two names that differ stay different.
func (s *Server) toolName(own string) string {
	name := strings.Map(func(r rune) rune {
		if isLetter(r) || strings.ContainsRune("._-/", r) {
			return r
		}
		return '_'
	}, own)
	full := s.cfg.Name + "." + name
	const most, kept = 128, 108
	if name == own && len(full) <= most {
		return full
	}
	sum := sha256.Sum256([]byte(own))
	return full[:min(len(full), kept)] + "-" + hex.EncodeToString(sum[:8])
}

// use returns a tool of the server, if it can be used beside those with names.
func (c *conn) use(s *session, t *mcp.Tool, names map[string]string, out *listing) (*tools.Definition, error) {
	name := c.server.toolName(t.Name)
	switch {
	case names[name] != "":
		return nil, errors.New("there is another tool of this name")
	case s.needsTask(t.Name):
		return nil, errors.New("it can only be called as a task, which isn't supported")
	}
	k, err := c.server.define(t, name)
	if err != nil {
		return nil, err
	}
	out.notes = append(out.notes, k.notes...)
	server, credential, own, repeatable := c.server, c.credential, t.Name, k.definition.Spec().Repeatable()
	run := func(ctx context.Context, input json.RawMessage, _ tools.Runner) (tools.Result, error) {
		c, done, err := server.use(credential)
		if err != nil {
			return tools.Result{}, err
		}
		defer done()
		return c.call(ctx, own, input, k.output, repeatable)
	}
	return tools.Wrap(k.definition, run).Define()
}

// A known is a tool of the server, for all credentials that see it.
type known struct {
	definition *tools.Definition
	output     *schema.Schema
	notes      []string // what was changed in its schema
}

// mostKnown is how many tools of a server are kept. Their compiled schemas are what is large.
const mostKnown = 1000

// define returns a tool of the server. One that is as before isn't compiled again.
func (s *Server) define(t *mcp.Tool, name string) (*known, error) {
	said, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(said)
	s.mu.Lock()
	k := s.known[key]
	s.mu.Unlock()
	if k != nil {
		return k, nil
	}
	if k, err = s.compile(t, name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= mostKnown {
		clear(s.known)
	}
	s.known[key] = k
	return k, nil
}

// compile returns a tool of the server.
func (s *Server) compile(t *mcp.Tool, name string) (*known, error) {
	cfg := &s.cfg
	if t.Name == "" || !utf8.ValidString(t.Name) {
		return nil, fmt.Errorf("its name, %q, isn't one", t.Name)
	}
	input, more, err := repaired(t.InputSchema)
	if err != nil {
		return nil, err
	}
	k := &known{}
	for _, note := range more.notes {
		k.notes = append(k.notes, "the schema of "+name+": "+note)
	}
	description := tools.Cut(strings.ToValidUTF8(t.Description, "\uFFFD"), maxDescription) + more.also
	spec := tools.Spec{
		Name: name, Description: description, Category: "mcp", Tags: []string{"mcp:" + cfg.Name}, Schema: input,
		Risk: tools.Medium, Timeout: cfg.Call, Progress: true, Outside: true,
	}
	if cfg.Trusted {
		believe(&spec, t.Annotations)
	}
	if cfg.Adjust != nil {
		cfg.Adjust(t, &spec)
		spec.Name, spec.Schema = name, input
	}
	if t.OutputSchema != nil {
		raw, err := json.Marshal(t.OutputSchema)
		if err == nil {
			raw, err = usable(raw)
		}
		if err == nil {
			k.output, err = schema.Parse(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("its output schema: %w", err)
		}
	}
	k.definition, err = tools.Raw{Spec: spec, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{}, errors.ErrUnsupported // a credential is missing: see use
	}}.Define()
	return k, err
}

// believe sets what the annotations of a trusted server say. What they don't say has the default of
// the protocol.
func believe(spec *tools.Spec, a *mcp.ToolAnnotations) {
	if a == nil {
		a = &mcp.ToolAnnotations{}
	}
	switch {
	case a.ReadOnlyHint:
		spec.ReadOnly, spec.Risk = true, tools.Low
	case a.DestructiveHint == nil || *a.DestructiveHint:
		spec.Risk = tools.High
	}
	spec.Idempotent = a.IdempotentHint && !a.ReadOnlyHint
}

// report tells the host how the list has changed.
func (c *conn) report(before []tools.Tool, found *listing) {
	cfg := &c.server.cfg
	change := Change{Server: cfg.Name, Credential: c.credential, Refused: found.refused, Notes: found.notes}
	old := make(map[string]string)
	for _, t := range before {
		d := t.(*tools.Definition)
		old[d.Name()] = d.Fingerprint()
	}
	for _, t := range found.tools {
		d := t.(*tools.Definition)
		switch print, known := old[d.Name()]; {
		case !known:
			change.Added = append(change.Added, d.Name())
		case print != d.Fingerprint():
			change.Changed = append(change.Changed, d.Name())
		}
		delete(old, d.Name())
	}
	for name := range old {
		change.Removed = append(change.Removed, name)
	}
	slices.Sort(change.Removed)
	for _, e := range found.refused {
		cfg.Logger.Warn("mcp: a tool is left out", "server", cfg.Name, "tool", e.Tool, "error", e.Err)
	}
	for _, note := range found.notes {
		cfg.Logger.Info("mcp: "+note, "server", cfg.Name)
	}
	if cfg.OnChange != nil &&
		len(change.Added)+len(change.Removed)+len(change.Changed)+len(change.Refused)+len(change.Notes) > 0 {
		cfg.OnChange(change)
	}
}
