package anthropic

import "slices"

// mostMarks is the largest number of cache marks in a request.
const mostMarks = 4

// markLast marks the last block that can have a cache mark.
func (c *conversation) markLast(blocks []any) {
	if b := lastMarkable(blocks); b != nil {
		b.CacheControl = c.mark
		c.marked = append(c.marked, b)
	}
}

// lastMarkable returns the last block that can have a cache mark: neither thinking nor blocks that
// are sent back unchanged. It returns nil if there is none.
func lastMarkable(blocks []any) *content {
	for i := len(blocks) - 1; i >= 0; i-- {
		if b, ok := blocks[i].(*content); ok && b.Type != "thinking" && b.Type != kindRedacted {
			return b
		}
	}
	return nil
}

// lastTool returns the last tool that can have a cache mark, which one that is loaded later can't,
// or nil.
func (b *body) lastTool() *tool {
	for _, t := range slices.Backward(b.Tools) {
		if string(t.options["defer_loading"]) != "true" {
			return t
		}
	}
	return nil
}

// limitMarks removes the oldest cache marks above the limit of the API.
func (c *conversation) limitMarks() {
	var marked []*content
	for _, b := range c.marked {
		if !slices.Contains(marked, b) {
			marked = append(marked, b)
		}
	}
	for i := 0; i < len(marked)-max(c.marks, 0); i++ {
		marked[i].CacheControl = nil
	}
	c.marks -= min(len(marked), c.marks)
}

// addMarks marks what [provider.Request.Cache] asks for, as far as the request's own marks leave
// room: the newest message first, since its mark covers the whole prompt, then what stays the same
// when the conversation doesn't, and then the message that was the newest in the call before. The
// API looks for a cached prompt at each mark and in the 20 blocks before it, which a reply with
// many calls exceeds.
func (c *conversation) addMarks(b *body) {
	mark := func(at **cacheControl) {
		if *at == nil && c.marks > 0 {
			*at = c.mark
			c.marks--
		}
	}
	last := len(b.Messages) - 1
	if newest := lastMarkable(b.Messages[last].Content); newest != nil {
		mark(&newest.CacheControl)
	}
	if n := len(b.System); n > 0 {
		mark(&b.System[n-1].CacheControl)
	}
	if tool := b.lastTool(); tool != nil {
		mark(&tool.CacheControl)
	}
	for i := last - 1; i >= 0; i-- {
		if b.Messages[i].Role == "user" {
			if before := lastMarkable(b.Messages[i].Content); before != nil {
				mark(&before.CacheControl)
			}
			return
		}
	}
}
