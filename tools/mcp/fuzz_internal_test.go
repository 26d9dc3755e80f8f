package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/schema"
)

const aMessage = `{"jsonrpc":"2.0","id":7,"result":{"note":"a message"}}`

// Whatever is printed between messages, each message arrives, and nothing else does.
func FuzzLines(f *testing.F) {
	for _, noise := range []string{"", "hello", "\xef\xbb\xbf", "\x1b[32mready", `{"level":"info"}`, "[]", "[1,2]",
		"\r", "\x00", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","method":"x"}`, `[` + aMessage + `]`} {
		f.Add([]byte(noise), 3)
	}
	f.Fuzz(func(t *testing.T, noise []byte, size int) {
		text := string(noise) + "\n" + aMessage + "\r\n" + string(noise) + "\n\xef\xbb\xbf" + aMessage
		from := newLines(strings.NewReader(text), &Config{Logger: slog.New(slog.DiscardHandler)})
		var all bytes.Buffer
		_, err := io.CopyBuffer(struct{ io.Writer }{&all}, struct{ io.Reader }{from}, make([]byte, 1+size&63))
		require.NoError(t, err)
		messages := 0
		for line := range strings.Lines(all.String()) {
			require.True(t, isMessage([]byte(line)), "%q", line)
			if strings.TrimSpace(line) == aMessage {
				messages++
			}
		}
		require.GreaterOrEqual(t, messages, 2)
	})
}

// Whatever events come between messages, each message arrives.
func FuzzEvents(f *testing.F) {
	for _, noise := range []string{"", ": hello", "what", "data: x", "data:", "id: 1", "event: ping\ndata: {}",
		"retry: 5\r", "data: " + aMessage, "\n\n"} {
		f.Add([]byte(noise), 3)
	}
	f.Fuzz(func(t *testing.T, noise []byte, size int) {
		text := string(noise) + "\n\ndata: " + aMessage + "\r\n\r\n" + string(noise) + "\n\ndata:" + aMessage
		s := &session{calls: map[string]*running{}, tasks: map[string]bool{}}
		r := &requests{session: s, logger: slog.New(slog.DiscardHandler)}
		var all bytes.Buffer
		_, err := io.CopyBuffer(struct{ io.Writer }{&all},
			struct{ io.Reader }{r.events(io.NopCloser(strings.NewReader(text)))}, make([]byte, 1+size&63))
		require.NoError(t, err)
		require.GreaterOrEqual(t, strings.Count(all.String(), "data: "+aMessage+"\n\n"), 2, "%q", all.String())
		for line := range strings.Lines(all.String()) {
			require.True(t, line == "\n" || strings.Contains(line, ":"), "the SDK ends a connection for %q", line)
		}
	})
}

// What is made of a schema that validates does so, too, and accepts what it accepted.
func FuzzASchemaIsMadeUsable(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"}}}`), []byte(`{"a":"y"}`))
	f.Add([]byte(`{"oneOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"const":2}},"required":["a"]}]}`),
		[]byte(`{"a":2}`))
	f.Add([]byte(`{"allOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"allOf":[{"$ref":"#/$defs/x"}]}}}`), []byte(`{}`))
	f.Add([]byte(`{"properties":{"n":{"minimum":1,"exclusiveMinimum":true}},"anyOf":[true,{"type":"null"}]}`),
		[]byte(`{"n":2}`))
	f.Fuzz(func(t *testing.T, raw, input []byte) {
		var v map[string]any
		if len(raw) > 4096 || json.Unmarshal(raw, &v) != nil {
			return
		}
		before, bad := schema.Parse(raw)
		out, _, err := repaired(v)
		if err != nil || bad != nil {
			return
		}
		after, err := schema.Parse(out)
		require.NoError(t, err, "%s", out)
		var object map[string]any
		if json.Unmarshal(input, &object) == nil && object != nil && before.Validate(input) == nil {
			require.NoError(t, after.Validate(input), "%s became %s", raw, out)
		}
	})
}
