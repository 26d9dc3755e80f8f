package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// maxResources is how many resources list_resources shows.
const maxResources = 1000

// A Resource is something that a server can be asked to read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"` // MIME type
}

// ListResources returns the resources of the server, at most 1,000 of them, with the credential of
// the listing that ctx has, if any.
func (s *Server) ListResources(ctx context.Context) ([]Resource, error) {
	return onServer(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) (list []Resource, err error) {
		for r, err := range cs.Resources(ctx, nil) {
			if err != nil {
				return nil, err
			}
			if list = append(list, Resource{URI: r.URI, Name: r.Name, Description: r.Description,
				Type: r.MIMEType}); len(list) == maxResources {
				break
			}
		}
		return list, nil
	})
}

// Read reads a resource. Its texts are marked as data.
func (s *Server) Read(ctx context.Context, uri string) ([]provider.Part, error) {
	return onServer(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) ([]provider.Part, error) {
		res, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		parts := content{from: s.cfg.Name + " " + uri}
		for _, r := range res.Contents {
			parts.resource(r)
		}
		return parts.all(), nil
	})
}

// Prompt returns the messages of a prompt of the server. Whoever uses them decides whether to trust
// them: they aren't marked.
func (s *Server) Prompt(ctx context.Context, name string, args map[string]string) ([]provider.Message, error) {
	return onServer(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) ([]provider.Message, error) {
		res, err := cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			return nil, err
		}
		var list []provider.Message
		for _, m := range res.Messages {
			parts := content{}
			parts.add(m.Content)
			msg := provider.Message{Role: provider.RoleUser, Parts: parts.media}
			if m.Role == "assistant" {
				msg.Role = provider.RoleAssistant
			}
			for _, t := range parts.text {
				msg.Parts = append(msg.Parts, provider.TextPart(strings.ToValidUTF8(t, "\uFFFD")))
			}
			list = append(list, msg)
		}
		return list, nil
	})
}

func (c *conn) resourceTools() []*tools.Definition {
	spec := func(name, description, input string) tools.Spec {
		return tools.Spec{
			Name: c.server.cfg.Name + "." + name, Description: description, Category: "mcp",
			Tags: []string{"mcp:" + c.server.cfg.Name}, Resource: "mcp:" + c.server.cfg.Name,
			ReadOnly: true, Outside: true, Timeout: c.server.cfg.Call, Schema: json.RawMessage(input),
		}
	}
	list, err := tools.Raw{
		Spec: spec("list_resources", "Lists the resources of the server "+c.server.cfg.Name+" that can be read.",
			`{"type":"object","properties":{},"additionalProperties":false}`),
		Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			found, err := c.server.ListResources(ctx)
			if err != nil {
				return tools.Result{}, err
			}
			text, err := json.Marshal(found)
			return tools.Text(tools.Untrusted(c.server.cfg.Name, string(text))), err
		},
	}.Define()
	read, err2 := tools.Raw{
		Spec: spec("read_resource", "Reads a resource of the server "+c.server.cfg.Name+".",
			`{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
			var in struct {
				URI string `json:"uri"`
			}
			if err := json.Unmarshal(input, &in); err != nil {
				return tools.Result{}, err
			}
			parts, err := c.server.Read(ctx, in.URI)
			return tools.Result{Parts: parts}, err
		},
	}.Define()
	if err = errors.Join(err, err2); err != nil { // these are ours
		c.server.cfg.Logger.Error("mcp: the tools for resources can't be defined", "error", err)
		return nil
	}
	return []*tools.Definition{list, read}
}

// onServer does something that only reads.
func onServer[T any](ctx context.Context, s *Server, read func(context.Context, *mcp.ClientSession) (T, error)) (out T,
	err error) {
	l, _ := tools.ListingOf(ctx)
	c, done, err := s.use(s.credential(l))
	if err != nil {
		return out, err
	}
	defer done()
	err = c.do(ctx, true, func(ctx context.Context, cs *session) (err error) {
		out, err = read(ctx, cs.ClientSession)
		return err
	})
	return out, err
}
