package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/tools"
)

// maxPreview is how many bytes of a preview are kept.
const maxPreview = 64 << 10

// preview returns what a call with an input would change, as it is shown, and the hash of the whole
// preview. It is redacted before that, so that the log has nothing that depends on a secret.
func (w *workers) preview(cr *callRun, input json.RawMessage) (text, hash string, refused *tools.Outcome) {
	text, refused = cr.d.Preview(w.log.ctx, input)
	if refused != nil {
		return "", "", refused
	}
	text = w.agent.redact.Text(text)
	sum := sha256.Sum256([]byte(text))
	return cutPreview(text), hex.EncodeToString(sum[:16]), nil
}

// cutPreview returns the first lines of a long preview, and one that says how much is missing.
func cutPreview(text string) string {
	if len(text) <= maxPreview {
		return text
	}
	end := maxPreview - 100 // for the last line
	if at := strings.LastIndexByte(text[:end], '\n'); at >= 0 {
		end = at + 1
	} else {
		for !utf8.RuneStart(text[end]) {
			end--
		}
	}
	shown := text[:end]
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return shown + fmt.Sprintf("\\ The preview is cut here: %d more bytes aren't shown.\n", len(text)-end)
}

// asShown reports whether a call that was approved with a preview would still change what was
// shown. If not, a person is asked again; and if that can't be said any more, the call gets that as
// its result. A call whose input was edited runs if the original would still change what was shown.
// Any goroutine may call it.
func (w *workers) asShown(cr *callRun) bool {
	w.log.Lock()
	shown := cr.state.Approved
	w.log.Unlock()
	if shown == nil {
		return true
	}
	text, hash, refused := w.preview(cr, shown.Call.Input)
	if refused == nil && hash == shown.PreviewHash {
		return true
	}
	if string(cr.call.Input) != string(shown.Call.Input) {
		text, hash, refused = w.preview(cr, cr.call.Input)
	}
	if refused != nil {
		cr.finishRefused(refused)
		return false
	}
	p := shown.Successor("what the call would change has changed since then")
	p.Preview, p.PreviewHash, p.Expires = text, hash, time.Time{}
	p.Title = tools.CleanTitle(w.agent.redact.Text(w.callTitle(cr)))
	w.log.Lock()
	defer w.log.Unlock()
	if cr.over || w.log.ended || w.log.ctx.Err() != nil || w.log.Yields() {
		cr.over = true // as in appendStart, or whoever has the session next asks
		return false
	}
	w.suspendLocked(cr, &Suspended{Pause: p}, cr.d.Spec().Expires)
	return false
}
