package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// defaultImages is the model for requests with Images at OpenAI's own address if the request names
// none.
const defaultImages = "gpt-image-1"

// imagesDate is the day of the reports of the prices.
const imagesDate = "2026-05-10"

// imageTable has OpenAI's models that make images. Text in the input is cheaper than images; the
// price is that of images, so that no budget is exceeded unnoticed.
var imageTable = []adapter.Family{
	{ID: "gpt-image-1", Traits: draws, Prices: adapter.Prices{10, 40, 2.5}},
	{ID: "gpt-image-1-mini", Traits: draws, Prices: adapter.Prices{2.5, 8, .25}},
	{ID: "gpt-image-1.5", Traits: draws, Prices: adapter.Prices{8, 32, 2}},
}

// images returns the body of a request for images. The description is the text of the newest user
// message, after the instructions.
func (c *conversation) images() ([]byte, error) {
	req := c.req
	n, err := req.Images.Number()
	if err != nil {
		return nil, err
	}
	prompt := strings.TrimSpace(req.System + "\n\n" + req.LastUserText())
	switch {
	case req.LastUserText() == "":
		return nil, fault.New(fault.Permanent, "openai: a request for images needs a user message that describes them")
	case len(req.Tools) > 0:
		return nil, fault.New(fault.Permanent, "openai: a request for images can't have tools")
	}
	for i := range req.Messages {
		for j := range req.Messages[i].Parts {
			if req.Messages[i].Role == provider.RoleUser && req.Messages[i].Parts[j].Kind == provider.PartMedia {
				return nil, fault.New(fault.Permanent,
					"openai: images can't be made from other images here; describe them in text")
			}
		}
	}
	body := map[string]any{"model": c.model, "prompt": prompt, "n": n}
	for name, value := range map[string]string{"size": req.Images.Size, "quality": req.Images.Quality} {
		if value != "" {
			body[name] = value
		}
	}
	if strings.HasPrefix(c.model, "dall-e") { // the others always send the image itself
		body["response_format"] = "b64_json"
	}
	return c.encode(body)
}

// An imageDecoder decodes an answer with images, which is one JSON object.
type imageDecoder struct{ *answer }

func (d imageDecoder) marker() { d.cut(nil) }
func (d imageDecoder) eof()    { d.cut(nil) }
func (d imageDecoder) event([]byte, bool) {
	d.fail(adapter.Garbled(d.m.name, "the server sent a stream of events, and not images", nil))
}

func (d imageDecoder) whole(data []byte) {
	var r struct {
		Data []struct {
			Image   []byte `json:"b64_json"`
			URL     string `json:"url"`
			Revised string `json:"revised_prompt"`
		} `json:"data"`
		Format string          `json:"output_format"`
		Usage  json.RawMessage `json:"usage"`
		Error  json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(data, &r)
	switch {
	case err == nil && isSet(r.Error):
		d.fail(d.m.failed(adapter.ParseFailure(d.Res.Redact(r.Error)), http.StatusOK))
		return
	case err != nil:
		d.fail(adapter.Garbled(d.m.name, "the images can't be decoded", err))
		return
	case len(r.Data) == 0:
		d.fail(adapter.Garbled(d.m.name, "the answer has no images", nil))
		return
	}
	for _, image := range r.Data {
		d.text(provider.KindText, image.Revised)
		media := provider.Media{Data: image.Image, URL: image.URL}
		if media.Type = "image/" + r.Format; r.Format == "" {
			media.Type = "image/png"
			if len(image.Image) > 0 {
				media.Type = http.DetectContentType(image.Image)
			}
		}
		if len(media.Data) == 0 && media.URL == "" {
			d.fail(adapter.Garbled(d.m.name, "an image has no content", nil))
			return
		}
		d.block++
		d.Put(provider.File(media))
		d.block++
	}
	d.Put(adapter.Ended(provider.StopDone, "", responsesUsage(r.Usage)))
}
