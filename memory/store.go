package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// A Store keeps what compaction takes out of a conversation, so that the model can read it back. It
// is safe for concurrent use. Whose a handle is isn't said here: a Store belongs to one session or
// tenant.
type Store interface {
	// Put keeps text under handle. The same handle always comes with the same text.
	Put(ctx context.Context, handle, text string) error
	// Get returns what was put, or an error of class fault.NotFound.
	Get(ctx context.Context, handle string) (string, error)
}

// HandleOf returns the handle of a text: "m-" and 16 hexadecimal digits of its SHA-256.
func HandleOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "m-" + hex.EncodeToString(sum[:8])
}

// A MapStore is a Store in memory that forgets the texts whose last Put was longest ago when it
// holds too much. Its zero value holds 64 MiB.
type MapStore struct {
	// MaxBytes is how much text it holds; 0: 64 MiB. A longer text is refused. It isn't changed
	// once the store is used.
	MaxBytes int

	mu    sync.Mutex // guards what follows
	texts map[string]string
	order []string
	size  int
}

// Put keeps text under handle.
func (s *MapStore) Put(_ context.Context, handle, text string) error {
	limit := s.MaxBytes
	if limit <= 0 {
		limit = 64 << 20
	}
	if len(text) > limit {
		return fault.Errorf(fault.Permanent, "memory: a text of %d bytes doesn't fit a store of %d", len(text), limit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[handle]; ok { // from now on it is the newest
		i := slices.Index(s.order, handle)
		s.order = append(slices.Delete(s.order, i, i+1), handle)
		return nil
	}
	if s.texts == nil {
		s.texts = make(map[string]string)
	}
	s.texts[handle] = text
	s.order = append(s.order, handle)
	for s.size += len(text); s.size > limit; s.order = s.order[1:] {
		s.size -= len(s.texts[s.order[0]])
		delete(s.texts, s.order[0])
	}
	return nil
}

// Get returns what was put under handle.
func (s *MapStore) Get(_ context.Context, handle string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[handle]
	if !ok {
		return "", fault.Errorf(fault.NotFound, "memory: nothing is kept under the handle %q", handle)
	}
	return text, nil
}

// Len returns how many texts the store holds.
func (s *MapStore) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.texts)
}

// ReadTool is the definition of the tool that reads back removed text. [ReadBack] runs it.
func ReadTool() provider.Tool {
	return provider.Tool{
		Name: "memory.read",
		Description: "Reads back text that was taken out of this conversation to save room. Use the handle that " +
			"stands in its place; " +
			"read on with offset.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["handle"],"properties":{` +
			`"handle":{"type":"string","description":"for example m-0123456789abcdef"},` +
			`"offset":{"type":"integer","minimum":0,"description":"byte to begin at, 0 if left out"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":32000,"description":"most bytes to read, 6000 if left out"}}}`),
	}
}

const (
	readLimit    = 6_000 // bytes: less than what [CutResults] cuts
	readMaxLimit = 32_000
)

// ReadBack answers a call of [ReadTool]: up to 6,000 bytes of the text from the offset on (a call
// may ask for up to 32,000), cut between characters, and where to read on. Errors are for the
// model: of class fault.Invalid if the input doesn't fit, else the store's.
func ReadBack(ctx context.Context, s Store, input json.RawMessage) (string, error) {
	var in struct {
		Handle string `json:"handle"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return "", fault.Errorf(fault.Invalid, "memory: the input should be an object with a handle: %w", err)
	}
	if in.Handle == "" || in.Offset < 0 || in.Limit < 0 {
		return "", fault.New(fault.Invalid, "memory: name a handle, and an offset and a limit of 0 or more")
	}
	if s == nil {
		return "", fault.New(fault.NotFound, "memory: nothing is kept here")
	}
	text, err := contained{s}.Get(ctx, in.Handle)
	if err != nil {
		return "", err
	}
	if in.Limit == 0 {
		in.Limit = readLimit
	}
	if in.Offset >= len(text) {
		return fmt.Sprintf("[the text ends at byte %d]", len(text)), nil
	}
	from := in.Offset
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	page := cut.Start(text[from:], max(min(in.Limit, readMaxLimit), utf8.UTFMax))
	if end := from + len(page); end < len(text) {
		return fmt.Sprintf("%s\n[bytes %d to %d of %d; read on with offset %d]", page, from, end, len(text), end), nil
	}
	return page, nil
}

// contained is a Store whose panics, and those of its errors, are errors.
type contained struct{ Store }

// Put keeps a text.
func (s contained) Put(ctx context.Context, handle, text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("memory: the store panicked: %v", p)
		}
	}()
	return readable("the store", s.Store.Put(ctx, handle, text))
}

// Get returns a text.
func (s contained) Get(ctx context.Context, handle string) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("memory: the store panicked: %v", p)
		}
	}()
	text, err = s.Store.Get(ctx, handle)
	return text, readable("the store", err)
}

// readable returns an error of code of the host, or, if its methods panic, another in its place.
func readable(who string, err error) error {
	if p := fault.Panics(err); p != nil {
		return fmt.Errorf("memory: %s returned an error that panics: %v", who, p)
	}
	return err
}
