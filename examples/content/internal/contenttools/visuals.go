package contenttools

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // for dimensions
	_ "image/png"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
)

// ImagePath begins the addresses of images in texts; the id follows.
const ImagePath = "/images/"

// maxImages is how many images a call makes.
const maxImages = 10

type visualsInput struct {
	ofArtifact
	Style string `json:"style,omitempty" enum:"professional,minimal,vibrant,technical"`
}

// A Picture is an image in a text.
type Picture struct {
	Placeholder string         `json:"placeholder"`
	URL         string         `json:"url"`
	Alt         string         `json:"alt"`
	Dimensions  map[string]int `json:"dimensions,omitempty"`
}

// A drawn is an image as a provider or a mock makes it.
type drawn struct {
	Type string `json:"type"`
	Data []byte `json:"data,omitempty"`
	SVG  string `json:"svg,omitempty"` // instead of Data
}

func (k *kit) visuals() tools.Tool {
	return writing(k, tools.Spec{Name: portfolio.VisualsCreator,
		Description: "Makes the images that the text of an artifact has placeholders for. The status becomes ready."},
		func(ctx context.Context, j *job, in visualsInput) (c portfolio.Change, data any, err error) {
			text := j.artifact.Content
			places := imagePlaceholder.FindAllStringSubmatch(text, -1)
			note := any(nil)
			switch {
			case len(places) == 0 && strings.Contains(text, "]("+ImagePath):
				note = "The text has its images already; none was added. Write [IMAGE: what it shows] where another one " +
					"is to be."
			case len(places) == 0: // one at the top
				first, rest, _ := strings.Cut(text, "\n")
				place := "[IMAGE: " + line(j.artifact.Title) + "]"
				text, places = first+"\n\n"+place+"\n"+rest, [][]string{{place, line(j.artifact.Title)}}
			}
			places = places[:min(len(places), maxImages)]
			pictures := []Picture{}
			for i, p := range places {
				tools.Progress(ctx, tools.ProgressReport{Text: fmt.Sprintf("drawing image %d of %d", i+1, len(places)),
					Done: float64(i) / float64(len(places))})
				image, size, err := k.drawn(ctx, j, p[1], in.Style)
				if err != nil {
					return c, nil, fmt.Errorf("image %d: %w", i+1, err)
				}
				c.Images = append(c.Images, image)
				pictures = append(pictures, Picture{p[0], ImagePath + image.ID, p[1], size})
				text = strings.Replace(text, p[0], fmt.Sprintf("![%s](%s)", p[1], ImagePath+image.ID), 1)
			}
			c.From, c.To, c.Content, c.Metadata = j.artifact.Status, portfolio.Ready, &text,
				map[string]any{"imagesNote": note}
			if len(pictures) > 0 {
				c.Metadata["images"] = pictures
			}
			return c, map[string]any{"imagesGenerated": len(pictures), "images": pictures}, nil
		})
}

// drawn makes an image for an artifact, and returns it with its size.
func (k *kit) drawn(ctx context.Context, j *job, what, style string) (i portfolio.Image, size map[string]int,
	err error) {
	made, err := mock.Call(ctx, k.Mocks.Category("visualsCreatorTools"),
		mock.Key{Name: "visualsCreator", Variant: j.artifact.Type, Values: map[string]any{"alt": what}},
		func(ctx context.Context) (drawn, error) { return k.draw(ctx, what, style) })
	if made.SVG != "" {
		made.Data = []byte(made.SVG)
	}
	id := portfolio.Hash(j.artifact.ID+style+what, string(made.Data))
	return portfolio.Image{ID: id, Type: made.Type, Data: made.Data}, dimensions(made), err
}

var sizeSVG = regexp.MustCompile(`<svg[^>]*\swidth="(\d+)"[^>]*\sheight="(\d+)"`)

// dimensions returns the width and the height of an image in pixels; nil if they aren't known.
func dimensions(d drawn) map[string]int {
	if c, _, err := image.DecodeConfig(bytes.NewReader(d.Data)); err == nil {
		return map[string]int{"width": c.Width, "height": c.Height}
	}
	m := sizeSVG.FindSubmatch(d.Data)
	if m == nil {
		return nil
	}
	width, _ := strconv.Atoi(string(m[1])) // digits
	height, _ := strconv.Atoi(string(m[2]))
	return map[string]int{"width": width, "height": height}
}

// draw asks the provider for one image.
func (k *kit) draw(ctx context.Context, what, style string) (d drawn, err error) {
	if style != "" {
		what += ", in a " + style + " style"
	}
	res, err := provider.Generate(ctx, k.Images, &provider.Request{Messages: []provider.Message{provider.User(what)},
		Images: &provider.ImageOptions{Size: k.ImageSize},
		Labels: provider.Labels{Kind: "images"}})
	if err != nil {
		return d, err
	}
	files := res.Files()
	if len(files) == 0 || len(files[0].Data) == 0 {
		return d, portfolio.Errorf(portfolio.AIProviderError, "The provider has made no image.")
	}
	d = drawn{Type: files[0].Type, Data: files[0].Data}
	var cost provider.Money
	if info, ok := provider.Info(k.Images); ok && info.Prices != nil {
		cost = info.Prices.Cost(res.Usage)
	}
	return d, agent.Book(ctx, res.Usage, cost)
}
