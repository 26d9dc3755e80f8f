package agui

import "fmt"

// A chunk is what the chunk events have in common.
type chunk struct {
	of    Type
	it    item // what the chunk says of the message or call
	base  Base
	delta string
}

// chunkOf returns e as a chunk, and whether it is one.
func chunkOf(e Event) (chunk, bool) {
	switch e := e.(type) {
	case TextMessageChunk:
		it := itemOf(textMessage, e.MessageID, e)
		it.role, it.name = e.Role, e.Name
		return chunk{of: e.eventType(), it: it, base: e.Base, delta: e.Delta}, true
	case ToolCallChunk:
		it := itemOf(toolCalls, e.ToolCallID, e)
		it.name, it.parent = e.ToolCallName, e.ParentMessageID
		return chunk{of: e.eventType(), it: it, base: e.Base, delta: e.Delta}, true
	case ReasoningMessageChunk:
		return chunk{of: e.eventType(), it: itemOf(reasoningMessage, e.MessageID, e), base: e.Base, delta: e.Delta},
			true
	}
	return chunk{}, false
}

// events returns the start and the content that stand for the chunk.
func (c *chunk) events() (start, content Event) {
	from, id := Attribution{c.it.owner}, c.it.id
	switch c.it.kind {
	case toolCalls:
		return ToolCallStart{Attribution: from, ToolCallID: id, ToolCallName: c.it.name, ParentMessageID: c.it.parent},
			ToolCallArgs{Base: c.base, Attribution: from, ToolCallID: id, Delta: c.delta}
	case reasoningMessage:
		return ReasoningMessageStart{Attribution: from, MessageID: id},
			ReasoningMessageContent{Base: c.base, Attribution: from, MessageID: id, Delta: c.delta}
	}
	return TextMessageStart{Attribution: from, MessageID: id, Role: c.it.role, Name: c.it.name},
		TextMessageContent{Base: c.base, Attribution: from, MessageID: id, Delta: c.delta}
}

func (w *Writer) writeChunk(c chunk) error {
	refuse := func(problem, remedy string) error {
		return &GrammarError{Type: c.of, ID: c.it.id, Problem: problem, Remedy: remedy}
	}
	if c.it.id == "" {
		open := w.run.continued(c.it)
		if open == nil {
			return refuse("it has no id, and what it continues isn't known",
				"give the first chunk an id, and those of parallel subagents a SubagentRunID")
		}
		c.it.id = open.id
	}
	it := w.run.items[c.it.key]
	if it == nil || !it.open {
		start, _ := c.events()
		start = w.run.fill(start)
		if err := w.run.admit(start); err != nil {
			return err
		}
		_, opened := effectOf(start)
		c.it.owner = opened.owner
		_, content := c.events()
		before := w.run.ends(Outcome{}, func(it *item) bool {
			return it.chunks && it.kind == c.it.kind && it.owner == c.it.owner
		})
		if err := w.write(append(before, start, content)...); err != nil {
			return err
		}
		w.run.items[c.it.key].chunks = true
		return nil
	}
	if err := agrees(c.it.owner, it, refuse); err != nil {
		return err
	}
	if differs(c.it.role, it.role) || differs(c.it.name, it.name) || differs(c.it.parent, it.parent) {
		return refuse(fmt.Sprintf("this %s began differently", kinds[it.kind].name),
			"repeat what its first chunk said, or leave it out")
	}
	_, content := c.events()
	return w.write(content)
}

// differs reports whether a repeated value, which may be left out, isn't the first one.
func differs[T ~string](repeated, first T) bool { return repeated != "" && repeated != first }

// continued returns what a chunk without an id continues: what a chunk of its kind and owner
// opened. A chunk without an owner continues what is from the agent itself or, if there is no such
// thing, the only one there is.
func (r *run) continued(c item) *item {
	var found []*item
	for _, it := range r.open {
		if !it.chunks || it.kind != c.kind {
			continue
		}
		if it.owner == c.owner {
			return it
		}
		found = append(found, it)
	}
	if c.owner != "" || len(found) != 1 {
		return nil
	}
	return found[0]
}
