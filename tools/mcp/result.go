package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// result returns what a model reads of a result: its texts marked as data, and its media.
// Structured content has to fit the schema that the server has given for it; the model reads it if
// there is no text.
func (c *conn) result(tool string, res *mcp.CallToolResult, output *schema.Schema) (tools.Result, error) {
	out := tools.Result{Failed: res.IsError}
	from := c.server.cfg.Name + "." + tool
	var structured json.RawMessage
	if res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return out, fault.Errorf(fault.Permanent, "mcp: the structured result can't be encoded: %w", err)
		}
		structured, out.Data = raw, json.RawMessage(raw)
	}
	if output != nil && !res.IsError {
		if structured == nil {
			return out, fault.Errorf(fault.Permanent,
				"mcp: the call ran, but its result has no structured content, which the tool promises")
		}
		if err := output.Validate(structured); err != nil {
			return out, fault.Errorf(fault.Permanent,
				"mcp: the call ran, but its result doesn't fit the schema of the tool: %w", err)
		}
	}
	parts := content{from: from}
	for _, item := range res.Content {
		parts.add(item)
	}
	if len(parts.text) == 0 && structured != nil {
		parts.text = append(parts.text, string(structured))
	}
	out.Parts = parts.all()
	return out, nil
}

// A content collects the parts of a result.
type content struct {
	from  string
	text  []string
	media []provider.Part
	bytes int // of the media
}

// add adds an item of a result.
func (c *content) add(item mcp.Content) {
	switch item := item.(type) {
	case *mcp.TextContent:
		c.text = append(c.text, item.Text)
	case *mcp.ImageContent:
		c.file(provider.Media{Type: item.MIMEType, Data: item.Data})
	case *mcp.AudioContent:
		c.file(provider.Media{Type: item.MIMEType, Data: item.Data})
	case *mcp.ResourceLink:
		c.text = append(c.text,
			strings.TrimSpace(fmt.Sprintf("Resource: %s %s\n%s", item.URI, item.Name, item.Description)))
	case *mcp.EmbeddedResource:
		if item.Resource != nil {
			c.resource(item.Resource)
		}
	}
}

// resource adds the content of a resource.
func (c *content) resource(r *mcp.ResourceContents) {
	if len(r.Blob) > 0 {
		c.file(provider.Media{Type: r.MIMEType, Name: r.URI, Data: r.Blob})
		return
	}
	c.text = append(c.text, r.Text)
}

// file adds media, if there aren't too many.
func (c *content) file(m provider.Media) {
	if c.bytes += len(m.Data); c.bytes > maxMedia {
		c.text = append(c.text, fmt.Sprintf("(A file of %d bytes is left out: the media of a result have at most %d.)",
			len(m.Data), maxMedia))
		return
	}
	c.media = append(c.media, provider.MediaPart(m))
}

// all returns the parts, texts first.
func (c *content) all() []provider.Part {
	text := strings.ToValidUTF8(strings.Join(c.text, "\n\n"), "\uFFFD")
	if text == "" && len(c.media) > 0 {
		return c.media
	}
	return append([]provider.Part{provider.TextPart(tools.Untrusted(c.from, text))}, c.media...)
}
