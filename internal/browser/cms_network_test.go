package browser

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCMSPageSaysWhatFails takes the network, the server, and the file of the site away.
func TestTheCMSPageSaysWhatFails(t *testing.T) {
	t.Parallel()
	s := startCMS(t)
	p := openCMS(t, s, "")
	p.say("What pages exist?")
	p.done()

	p.network(conditions{Offline: true})
	p.fill("Create a page called Jobs")
	p.keys("\r")
	p.wait(`document.querySelector(".composer .trouble:not([hidden])")?.textContent.includes("could not be reached")`)
	require.Equal(t, "Create a page called Jobs", p.text(`document.querySelector(".composer textarea").value`))
	p.network(conditions{})
	p.keys("\r")
	p.listed("Jobs", true)
	p.done()

	s.kill()
	p.wait(`document.querySelector(".bar:not([hidden])")`)
	p.press(".site", "Read the lists again")
	p.wait(`document.querySelector(".site-lists [role=alert]")?.textContent.includes("could not be reached")`)
	s.start()
	p.press(".site", "Try again")
	p.listed("Jobs", true)
	p.wait(`!document.querySelector(".bar:not([hidden])")`)
	p.say("What pages exist?")
	p.answer("Jobs")

	p.press(".site", "New page")
	p.keys("Lost")
	for _, file := range []string{s.db, s.db + "-wal", s.db + "-shm"} {
		_ = os.Remove(file) // some may not be there
	}
	p.keys("\r") // the name stays, also if the lists were read again meanwhile
	p.toast("was deleted")
	p.say("Create a page called Lost")
	p.wait(`document.querySelector(".composer .trouble:not([hidden])")?.textContent.includes("was deleted")`)
	p.calm("ERR_", "503", "500", "507")
}
