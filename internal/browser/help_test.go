package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// beginning is true if the first paragraph of the last answer is in view, and its end isn't.
const beginning = `(() => {
	const view = document.querySelector(".chat .scroller").getBoundingClientRect();
	const answer = [...document.querySelectorAll(".chat .turn")].at(-1);
	return answer.querySelector(".prose p").getBoundingClientRect().top >= view.top && answer.getBoundingClientRect().bottom > view.bottom;
})()`

// The answer to what the script doesn't know is short, and its button leads to the help. That is
// longer than the screen of a phone, and is read from its beginning.
func TestTheHelpIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	t.Run("cms", func(t *testing.T) {
		t.Parallel()
		p := openCMS(t, startCMS(t), "")
		p.screen(390, 844, "light")
		p.say("Make the home page nicer")
		p.done()
		p.wait(`document.querySelectorAll(".request").length === 5`)
		p.press(".turn:last-child", "Help")
		p.wait(`document.querySelectorAll(".turn:last-child .request").length > 15 && ` + beginning)
		p.done()
		p.press(".turn:last-child", "Show Blog")
		p.wait(`[...document.querySelectorAll(".turn:last-child li")].some(e => e.textContent === "title: From the bakery")`)
		require.NotRegexp(t, `sec_|col_`, p.text(`document.querySelector(".turn:last-child .prose").textContent`))
		p.done()
		p.press(".strip", "Ask")
		p.wait(`document.querySelector(".composer textarea").placeholder === "Ask; nothing is changed"`)
		p.calm("404")
	})
	t.Run("content", func(t *testing.T) {
		t.Parallel()
		p := openContent(t, startContent(t), "ann")
		p.screen(390, 844, "light")
		p.wait(`!document.body.classList.contains("with-chat")`)
		p.text(`document.querySelector(".tabs [data-toggle=chat]").click(), ""`)
		p.ask("Make a coffee")
		p.wait(`document.querySelectorAll(".chat .request").length === 4`)
		p.press(".chat .turn:last-child", "Help")
		p.wait(`document.querySelectorAll(".chat .turn:last-child .request").length > 20 && ` + beginning)
		p.answered()
		p.press(".chat .turn:last-child", "Make it shorter")
		p.wait(`document.activeElement.value === "Make it shorter"`)
		p.calm()
	})
}
