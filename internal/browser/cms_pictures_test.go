package browser

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// drawPictures says whether the pictures of the READMEs are drawn again.
var drawPictures = flag.Bool("pictures", false,
	"draw the pictures of the READMEs of examples/cms, examples/content and examples/team again")

const pictures = "../../examples/cms/pictures"

// A picture is one of the README.
type picture struct {
	name          string
	width, height int64
	theme         string
	reach         func(p *cmsPage)
}

var allPictures = []picture{
	{"page.jpg", 1360, 800, "light", func(p *cmsPage) {
		p.say("Create an About page with a hero titled Hello")
		p.done()
		p.say("Publish the About page, then add a text section to About saying \"It began with one oven.\"")
		p.done()
		p.clickOn(`document.querySelector(".row[data-path='/pages/home']")`)
		p.previews("/pages/home")
		p.wait(`!document.querySelector(".chip.draft")`)
	}},
	{"approval.jpg", 1360, 800, "dark", func(p *cmsPage) {
		p.say("Remove the hero section on Home")
		p.asked("left")
		p.press(".page-bar", "Before")
		p.wait(`document.querySelector(".page-bar h2").textContent === "Home"`)
	}},
	{"plan.jpg", 1360, 800, "light", func(p *cmsPage) {
		p.say("Create a contact page with a form")
		p.wait(`document.querySelectorAll(".alternative").length === 3`)
		p.text(`document.querySelector(".column .card").scrollIntoView(), ""`)
	}},
	{"phone.png", 390, 760, "light", func(p *cmsPage) {
		p.say("Create a page called Members, then change the slug of Members to our-team")
		p.asked("left")
		p.text(`document.querySelector(".column .card").scrollIntoView(), ""`)
	}},
}

// TestThePicturesOfTheReadmeCanBeDrawn reaches what each picture shows with -screens, because the
// scenarios and the looks are about the same, and draws it with -pictures.
func TestThePicturesOfTheReadmeCanBeDrawn(t *testing.T) {
	t.Parallel()
	for _, c := range allPictures {
		t.Run(c.name, func(t *testing.T) {
			if !*screens && !*drawPictures {
				t.Skip("it is reached with -screens")
			}
			p := openCMS(t, startCMS(t), "")
			p.screen(c.width, c.height, c.theme)
			c.reach(p)
			require.Equal(t, "[]", p.text(overflow))
			p.calm("404")
			if *drawPictures {
				p.wait(`!document.querySelector(".toast")`)
				ctx, cancel := context.WithTimeout(p.ctx, patience)
				defer cancel()
				quality := 100 // a PNG; with photographs that is large
				if filepath.Ext(c.name) == ".jpg" {
					quality = 85
				}
				data, err := chromedp.Run(ctx, chromedp.FullScreenshot(quality))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(pictures, c.name), data, 0o644))
			}
		})
		info, err := os.Stat(filepath.Join(pictures, c.name))
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(160_000), c.name)
	}
}
