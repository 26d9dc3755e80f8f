package browser

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		serveUntilKilled(dir)
		return
	}
	code := m.Run()
	stopUseChatClients()
	for range cap(idle) {
		if c := <-idle; c.ctx != nil {
			c.stop()
		}
	}
	stopAGUINodes()
	os.Exit(code)
}
