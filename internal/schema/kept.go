package schema

import (
	"reflect"
	"sync"
)

// maxKept is how many schemas of types are kept. A host may make overlays without end, for example
// one for each of its users.
const maxKept = 500

// A typeKey is what a schema of a type is made of.
type typeKey struct {
	t       reflect.Type
	overlay string
}

// kept has the newest schemas of types.
var kept = cache{schemas: make(map[typeKey]*Schema)}

// A cache keeps schemas. It is safe for concurrent use.
type cache struct {
	mu      sync.Mutex
	schemas map[typeKey]*Schema
	order   []typeKey // the oldest first
}

func (c *cache) get(key typeKey) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.schemas[key]
}

func (c *cache) put(key typeKey, s *Schema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.schemas[key] != nil {
		return // another goroutine has made it, too
	}
	if len(c.order) == maxKept {
		delete(c.schemas, c.order[0])
		c.order = c.order[1:]
	}
	c.schemas[key] = s
	c.order = append(c.order, key)
}
