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
	if started {
		_, stop := chromium()
		stop()
	}
	os.Exit(code)
}
