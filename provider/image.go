package provider

import "github.com/pawlkit/pawl/circuit/fault"

// ImageOptions ask for images: see [Request].Images. The zero value asks for one, as the provider
// makes it by default.
type ImageOptions struct {
	// Count is how many; 0: 1. At most 10.
	Count int `json:"count,omitempty"`
	// Size and Quality are in the provider's terms: OpenAI's sizes are like "1024x1024" and its
	// qualities low, medium and high; Gemini's sizes are aspect ratios such as "16:9", and it has
	// no qualities.
	Size    string `json:"size,omitempty"`
	Quality string `json:"quality,omitempty"`
}

// maxImages is the most images of a request.
const maxImages = 10

// ErrNoImages is the error for a request with Images to a provider that makes none.
var ErrNoImages error = fault.New(fault.Permanent,
	"provider: this provider makes no images; send Request.Images to one that does, such as openai with gpt-image-1 "+
		"or gemini with gemini-2.5-flash-image")

// Number returns how many images are asked for. A Count that isn't possible is an error of class
// Invalid.
func (o *ImageOptions) Number() (int, error) {
	switch {
	case o.Count < 0 || o.Count > maxImages:
		return 0, fault.Errorf(fault.Invalid, "provider: Images.Count is %d; it can be 1 to %d, or 0 for 1", o.Count,
			maxImages)
	case o.Count == 0:
		return 1, nil
	}
	return o.Count, nil
}

// Files returns the media of the answer: the images of a request with Images, for example.
func (r *Response) Files() []*Media {
	var files []*Media
	parts := r.parts()
	for i := range parts {
		if p := &parts[i]; p.Kind == PartMedia && p.Media != nil {
			files = append(files, p.Media)
		}
	}
	return files
}
