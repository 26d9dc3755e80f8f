package machine

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// PauseID returns the id of a pause. round is how often the call was suspended before, and preview
// is Pause.PreviewHash. Another input, and another preview, gives another id. The id can't be
// guessed, because the call's id contains the run's.
func PauseID(session string, call *provider.ToolCall, kind PauseKind, round int, preview string) string {
	return pauseID(session, call, provider.EscapeSeparators(call.Input), kind, round, preview)
}

// Made reports whether the pause was made for its call as it is stored, by the id of the pause.
// Logs that v0.1.0 wrote may have an id that was made of an input with unescaped separators.
func (c *CallState) Made(session string) bool {
	p := c.Pause
	return p.ID == PauseID(session, c.Call, p.Kind, c.Pauses-1, p.PreviewHash) ||
		p.ID == pauseID(session, c.Call, c.Call.Input, p.Kind, c.Pauses-1, p.PreviewHash)
}

func pauseID(session string, call *provider.ToolCall, input json.RawMessage, kind PauseKind, round int,
	preview string) string {
	h := sha256.New()
	of := []string{session, call.ID, call.Name, string(input), call.Invalid, string(kind), fmt.Sprint(round)}
	if preview != "" {
		of = append(of, preview)
	}
	for _, s := range of {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "p-" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:15]))
}
