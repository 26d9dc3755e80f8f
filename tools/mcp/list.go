package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	if c.gate.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	defer c.gate.Release(1)
	c.mu.Lock()
	if time.Since(c.asked) > c.server.cfg.Refresh {
		c.listed = false
	}
	known, listed, flow := c.tools, c.listed, c.signIn
	if c.session == nil && known != nil && c.err == nil && listed { // it was closed because nobody used it
		c.mu.Unlock()
		return known, nil
	}
	c.mu.Unlock()
	if flow != nil {
		return []tools.Tool{c.signInTool()}, nil
	}
	s, err := c.connect(ctx)
	c.mu.Lock()
	listed, flow = c.listed, c.signIn
	c.mu.Unlock()
	switch {
	case flow != nil:
		return []tools.Tool{c.signInTool()}, nil
	case err != nil:
		return nil, err
	case listed:
		return known, nil
	}
	found, refused, err := c.ask(ctx, s)
	if lost(err) {
		c.drop(s)
		if s, err = c.connect(ctx); err != nil {
			return nil, err
		}
		found, refused, err = c.ask(ctx, s)
	}
	if err != nil {
		c.drop(s)
		return nil, c.backOff(err)
	}
	c.mu.Lock()
	c.tools, c.listed, c.asked, c.failures = found, c.session == s, time.Now(), 0
	c.mu.Unlock()
	c.report(known, found, refused)
	return found, nil
}

// ask asks the server for its tools.
func (c *conn) ask(ctx context.Context, s *session) (found []tools.Tool, refused []*SchemaError, err error) {
	cfg := &c.server.cfg
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Connect,
		fault.Errorf(fault.Transient, "it didn't list its tools within %s", cfg.Connect))
	defer cancel()
	names := make(map[string]bool)
	for _, t := range c.ownTools() {
		names[t.Name()] = true
		found = append(found, t)
	}
	n, texts, missing := 0, 0, slices.Clone(cfg.Only)
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, nil, err
		}
		if len(cfg.Only) > 0 && !slices.Contains(cfg.Only, t.Name) {
			continue
		}
		if n++; n > maxTools {
			return nil, nil, fault.Errorf(fault.Permanent,
				"it lists more than %d tools; name those that you need in Config.Only", maxTools)
		}
		missing = slices.DeleteFunc(missing, func(own string) bool { return own == t.Name })
		name := c.server.toolName(t.Name)
		if size := sizeOf(t); texts+size > maxTexts {
			refused = append(refused, &SchemaError{Tool: name, Err: fmt.Errorf("with it, the descriptions and schemas of the "+
				"server's tools have more than %d bytes; name those that you need in Config.Only", maxTexts)})
			continue
		} else {
			texts += size
		}
		d, err := c.use(s, t, names)
		if err != nil {
			refused = append(refused, &SchemaError{Tool: name, Err: err})
			continue
		}
		names[name] = true
		found = append(found, d)
	}
	for _, own := range missing {
		refused = append(refused, &SchemaError{Tool: c.server.toolName(own),
			Err: errors.New("Config.Only names it, but the server has no such tool")})
	}
	slices.SortFunc(found, func(a, b tools.Tool) int {
		return cmp.Compare(a.(*tools.Definition).Name(), b.(*tools.Definition).Name())
	})
	return found, refused, nil
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
func (c *conn) use(s *session, t *mcp.Tool, names map[string]bool) (*tools.Definition, error) {
	name := c.server.toolName(t.Name)
	switch {
	case names[name]:
		return nil, errors.New("there is another tool of this name")
	case s.needsTask(t.Name):
		return nil, errors.New("it can only be called as a task, which isn't supported")
	}
	return c.define(t, name)
}

// define returns a tool of the server.
func (c *conn) define(t *mcp.Tool, name string) (*tools.Definition, error) {
	cfg := &c.server.cfg
	if t.Name == "" || !utf8.ValidString(t.Name) {
		return nil, fmt.Errorf("its name, %q, isn't one", t.Name)
	}
	input, err := objectSchema(t.InputSchema)
	if err != nil {
		return nil, err
	}
	description := tools.Cut(strings.ToValidUTF8(t.Description, "\uFFFD"), maxDescription)
	spec := tools.Spec{
		Name: name, Description: description, Category: "mcp", Tags: []string{"mcp:" + cfg.Name}, Resource: "mcp:" +
			cfg.Name, Schema: input,
		Risk: tools.Medium, Timeout: cfg.Call, Progress: true,
	}
	if cfg.Trusted {
		believe(&spec, t.Annotations)
	}
	if cfg.Adjust != nil {
		cfg.Adjust(t, &spec)
		spec.Name, spec.Schema = name, input
	}
	var output *schema.Schema
	if t.OutputSchema != nil {
		raw, err := json.Marshal(t.OutputSchema)
		if err == nil {
			output, err = schema.Parse(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("its output schema: %w", err)
		}
	}
	own, repeatable := t.Name, spec.Repeatable()
	return tools.Raw{Spec: spec, Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
		return c.call(ctx, own, input, output, repeatable)
	}}.Define()
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

// objectSchema returns the schema of an input. One that doesn't say that it is an object is given
// that, because the protocol has no other inputs.
func objectSchema(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes; at most %d are allowed", len(raw), maxSchema)
	}
	switch string(bytes.TrimSpace(raw)) {
	case "null", "{}", "true":
		return json.RawMessage(`{"type":"object"}`), nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("its schema isn't an object: %w", err)
	}
	if _, ok := fields["type"]; ok {
		return raw, nil
	}
	fields["type"] = json.RawMessage(`"object"`)
	return json.Marshal(fields)
}

// report tells the host how the list has changed.
func (c *conn) report(before, after []tools.Tool, refused []*SchemaError) {
	cfg := &c.server.cfg
	change := Change{Server: cfg.Name, Credential: c.credential, Refused: refused}
	old := make(map[string]string)
	for _, t := range before {
		d := t.(*tools.Definition)
		old[d.Name()] = d.Fingerprint()
	}
	for _, t := range after {
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
	for _, e := range refused {
		cfg.Logger.Warn("mcp: a tool is left out", "server", cfg.Name, "tool", e.Tool, "error", e.Err)
	}
	if cfg.OnChange != nil && len(change.Added)+len(change.Removed)+len(change.Changed)+len(refused) > 0 {
		cfg.OnChange(change)
	}
}
