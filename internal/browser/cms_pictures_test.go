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
	{"page.png", 1360, 800, "light", func(p *cmsPage) {
		p.say("Create an About page with a hero titled Hello")
		p.answer("is at /about")
		p.say(
			`Set the subtitle of the hero on About to "We bake bread, and nothing else", then add a text section to About titled Our story saying "It began with one oven and a good flour."`)
		p.answer("has a text section")
		p.previews("/pages/about")
	}},
	{"approval.png", 1360, 800, "dark", func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("Delete page “home”?")
	}},
	{"plan.png", 820, 640, "light", func(p *cmsPage) {
		p.mode("Plan")
		p.say("Add a hero section to home titled News, then create a page called Contact")
		p.answer("it works")
		p.wait(`document.querySelectorAll(".plans .steps li").length === 2`)
	}},
	{"phone.png", 390, 720, "light", func(p *cmsPage) {
		p.say("Create a page called Members, then change the slug of Members to our-team")
		p.asked("links to the old one break")
	}},
}

// TestThePicturesOfTheReadmeCanBeDrawn reaches what each picture shows with -screens, because the
// scenarios and the looks are about the same, and draws it with -pictures.
func TestThePicturesOfTheReadmeCanBeDrawn(t *testing.T) {
	t.Parallel()
	var all int64
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
				data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(pictures, c.name), data, 0o644))
			}
		})
		info, err := os.Stat(filepath.Join(pictures, c.name))
		require.NoError(t, err)
		all += info.Size()
	}
	require.Less(t, all, int64(1_500_000))
}
