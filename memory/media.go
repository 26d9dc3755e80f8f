package memory

import (
	"bytes"
	"image"
	_ "image/gif" // so that sizes of images can be read
	_ "image/jpeg"
	_ "image/png"
	"math"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// What parts that aren't text take, as the providers document it (looked up in 2026):
//
//	Anthropic  images: a token per patch of 28 × 28 pixels (about width × height / 750), scaled
//	           down before to a long edge of 1,568 pixels and 1,568 patches, since Claude Opus 4.7
//	           2,576 pixels and 4,784; PDF: 1,500 to 3,000 of text and an image a page
//	OpenAI     images: within 2,048 × 2,048, the short side then 768, 170 per tile of 512 × 512
//	           and 85; the mini and nano models: patches of 32 × 32, at most 1,536, times 1.62 and
//	           2.46 (gpt-4o-mini: 5,667 per tile and 2,833)
//	Gemini     images: 258 up to 384 × 384, else 258 per tile of 768 × 768; PDF: 258 a page;
//	           sound 32 and film 263 a second
//
// Where the size can't be read (an address, a file's id, WebP), an image counts as the largest.
const (
	tokensPDFPage       = 4600 // 3,000 of text and an image
	tokensPDFPageGemini = 258 + 1000
	bytesPDFPage        = 30_000 // where no page can be counted
	tokensAudioSecond   = 32
	bytesAudioSecond    = 4_000 // 32 kbit/s
	tokensVideoSecond   = 263 + 32
	bytesVideoSecond    = 60_000 // 480 kbit/s
	tokensRemote        = 8_000  // a document, sound or film that isn't here
)

// media counts a part that isn't text.
func (e *Estimator) media(m *provider.Media) int {
	kind, _, _ := strings.Cut(strings.ToLower(m.Type), "/")
	switch {
	case kind == "image":
		cfg, _, err := image.DecodeConfig(bytes.NewReader(m.Data))
		if err != nil || cfg.Width <= 0 || cfg.Height <= 0 {
			return e.image(1<<15, 1<<15)
		}
		return e.image(cfg.Width, cfg.Height)
	case len(m.Data) == 0:
		return tokensRemote
	case kind == "audio":
		return (len(m.Data)/bytesAudioSecond + 1) * tokensAudioSecond
	case kind == "video":
		return (len(m.Data)/bytesVideoSecond + 1) * tokensVideoSecond
	case isText(m):
		return e.CountText(string(m.Data))
	case strings.HasSuffix(strings.ToLower(m.Type), "pdf"):
		each := tokensPDFPage
		if e != nil && e.Family == FamilyGemini {
			each = tokensPDFPageGemini
		}
		return pages(m.Data) * each
	}
	return len(m.Data)/3 + 1
}

// isText reports a file whose content is text, by its type: it is cut as a text is.
func isText(m *provider.Media) bool {
	kind, _, _ := strings.Cut(strings.ToLower(m.Type), ";")
	kind = strings.TrimSpace(kind)
	top, sub, _ := strings.Cut(kind, "/")
	switch {
	case len(m.Data) == 0: // an address, or the id of a file
		return false
	case top == "text":
		return true
	case top != "application":
		return false
	}
	for _, part := range strings.FieldsFunc(sub, func(r rune) bool { return r == '+' || r == '-' || r == '.' }) {
		switch part {
		case "json", "jsonl", "ndjson", "xml", "yaml", "toml", "csv", "markdown", "javascript", "typescript", "sql",
			"sh":
			return true
		}
	}
	return false
}

// image counts an image of that size in pixels.
func (e *Estimator) image(width, height int) int {
	w, h := float64(width), float64(height)
	var family Family
	var model string
	if e != nil {
		family, model = e.Family, strings.ToLower(e.Model)
	}
	switch family {
	case FamilyOpenAI:
		if mini := strings.Contains(model, "mini") || strings.Contains(model, "nano"); mini &&
			!strings.Contains(model, "4o") {
			factor := 1.62
			if strings.Contains(model, "nano") {
				factor = 2.46
			}
			return int(math.Ceil(min(tiles(w, 32)*tiles(h, 32), 1536) * factor))
		}
		w, h = within(w, h, 2048)
		if short := min(w, h); short > 768 {
			w, h = w*768/short, h*768/short
		}
		base, each := 85.0, 170.0
		if strings.Contains(model, "4o-mini") {
			base, each = 2833, 5667
		}
		return int(base + each*tiles(w, 512)*tiles(h, 512))
	case FamilyGemini:
		if width <= 384 && height <= 384 {
			return 258
		}
		return int(min(258*tiles(w, 768)*tiles(h, 768), 258*16))
	}
	edge, most := 1568.0, 1568.0
	if family != FamilyAnthropic || largeImages(model) {
		edge, most = 2576, 4784
	}
	w, h = within(w, h, edge)
	return int(min(tiles(w, 28)*tiles(h, 28), most))
}

// largeImages reports a Claude that may read images up to 2,576 pixels: all but those that are
// known to read less.
func largeImages(model string) bool {
	for _, small := range []string{"claude-3", "haiku-4", "sonnet-4", "opus-4-0", "opus-4-1", "opus-4-5", "opus-4-6",
		"opus-4-2025"} {
		if strings.Contains(model, small) {
			return false
		}
	}
	return true
}

// within scales a size down, so that its long edge is at most edge.
func within(w, h, edge float64) (float64, float64) {
	if long := max(w, h); long > edge {
		return w * edge / long, h * edge / long
	}
	return w, h
}

func tiles(length, edge float64) float64 { return max(math.Ceil(length/edge-1e-9), 1) }

// pages counts the pages of a PDF: by its page objects where they can be read, and by its size
// otherwise.
func pages(data []byte) int {
	n := bytes.Count(data, []byte("/Type /Page")) + bytes.Count(data, []byte("/Type/Page"))
	n -= bytes.Count(data, []byte("/Type /Pages")) + bytes.Count(data, []byte("/Type/Pages"))
	if n > 0 {
		return n
	}
	return len(data)/bytesPDFPage + 1
}
