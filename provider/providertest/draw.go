package providertest

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"iter"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// drawPrice is what an image of [Draw] costs: 4 cents. It counts as 1,000 tokens.
const drawPrice = 40_000

// Draw returns a provider that makes images without a network: it answers a request with Images by
// SVGs that are labeled with the text of the newest user message. The same request gets the same
// images. Images.Size is a size in pixels such as "1024x768", or an aspect ratio such as "16:9";
// empty: "1024x1024". Other requests fail with an error of class Permanent.
func Draw() provider.Provider { return drawer{} }

type drawer struct{}

func (drawer) Info() provider.ModelInfo {
	const per = provider.Money(1_000_000 / 1_000 * drawPrice)
	return provider.ModelInfo{Provider: "providertest", ID: "draw", Inputs: []string{"text"},
		Outputs: []string{"image"}, Prices: &provider.Prices{Output: per}}
}

// EndsWithContext returns true: it never waits.
func (drawer) EndsWithContext() bool { return true }

func (d drawer) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return Func(d.answer).Stream(ctx, req)
}

func (drawer) answer(_ context.Context, req *provider.Request) (*provider.Response, error) {
	if req.Images == nil {
		return nil, fault.New(fault.Permanent, "providertest: Draw answers only requests with Images")
	}
	n, err := req.Images.Number()
	if err != nil {
		return nil, err
	}
	w, h, err := imageSize(req.Images.Size)
	if err != nil {
		return nil, err
	}
	out := &provider.Response{Model: "draw", Stop: provider.StopDone,
		Usage: provider.Usage{Input: int64(len(req.LastUserText()) / 4), Output: int64(n) * 1_000}}
	for i := range n {
		label := strings.Join(strings.Fields(req.LastUserText()), " ")
		if n > 1 {
			label += fmt.Sprintf(" (%d of %d)", i+1, n)
		}
		out.Parts = append(out.Parts,
			provider.MediaPart(provider.Media{Type: "image/svg+xml", Name: fmt.Sprintf("image-%d.svg", i+1),
				Data: svg(label, w, h)}))
	}
	return out, nil
}

// imageSize returns the width and the height of an image in pixels.
func imageSize(size string) (w, h int, err error) {
	const side, most = 1024, 4096
	if size == "" {
		return side, side, nil
	}
	for _, sep := range []string{"x", ":"} {
		a, b, ok := strings.Cut(size, sep)
		w, errW := strconv.Atoi(a)
		h, errH := strconv.Atoi(b)
		if !ok || errW != nil || errH != nil || w < 1 || h < 1 || w > most || h > most {
			continue
		}
		if sep == "x" {
			return w, h, nil
		}
		return side, min(max(side*h/w, 1), most), nil
	}
	return 0, 0,
		fault.Errorf(fault.Invalid,
			"providertest: Images.Size is %q; it should be a size such as 1024x768, of at most %d pixels a side, or "+
				"an aspect ratio such as 16:9", size, most)
}

// svg draws a picture with a label. Its colors depend on the label.
func svg(label string, w, h int) []byte {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(label))
	hue := int(sum.Sum32() % 360)
	var text bytes.Buffer
	_ = xml.EscapeText(&text, []byte(label)) // a Buffer returns no errors
	font := max(min(w, h)/18, 8)
	var b bytes.Buffer
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`, w, h, w, h, text.String())
	fmt.Fprintf(&b,
		`<defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="hsl(%d 55%% 62%%)"/><stop offset="1" stop-color="hsl(%d 60%% 34%%)"/></linearGradient></defs>`, hue, (hue+60)%360)
	fmt.Fprintf(&b,
		`<rect width="100%%" height="100%%" fill="url(#g)"/><circle cx="%d" cy="%d" r="%d" fill="#fff" fill-opacity=".16"/>`, w*3/4, h/4, min(w, h)/5)
	text.Reset()
	_ = xml.EscapeText(&text, []byte(shorten(label, max(w/font*3/2, 8))))
	fmt.Fprintf(&b,
		`<text x="50%%" y="%d" fill="#fff" font-family="sans-serif" font-size="%d" text-anchor="middle">%s</text>`,
		h/2, font, text.String())
	b.WriteString("</svg>")
	return b.Bytes()
}
