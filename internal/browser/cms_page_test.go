package browser

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A cmsPage is the page of the assistant of the CMS.
type cmsPage struct {
	*builtIn
	server string
}

// startCMS starts a server with a new site, and returns its address.
func startCMS(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "cms")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/cms")
	build.Dir = filepath.Join("..", "..")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	cmd := exec.Command(program, "serve", "-provider", "built-in", "-db", filepath.Join(t.TempDir(), "cms.db"), "-addr", "127.0.0.1:0", "-api", "127.0.0.1:0", "-preview", "127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	_, address, ok := strings.Cut(line, "http://")
	require.True(t, ok, line)
	return "http://" + strings.Trim(address, "/\n")
}

// openCMS opens the page in a tab of its own.
func openCMS(t *testing.T, server, session string) *cmsPage {
	t.Helper()
	p := &cmsPage{&builtIn{open(t, "about:blank")}, server}
	p.screen(1440, 900, "light")
	p.reach(session)
	return p
}

func (p *cmsPage) reach(session string) {
	p.t.Helper()
	address := p.server + "/assistant/"
	if session != "" {
		address += "?session=" + session
	}
	p.run(chromedp.Navigate(address))
	p.wait(`document.querySelector(".strip")`)
}

// logged waits until the message history shows an entry of a kind with a text.
func (p *cmsPage) logged(kind, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`[...document.querySelectorAll(".entry.k-%s:not([hidden]) .title")].some(e => e.textContent.includes(%s))`, kind, quote(text)))
}

// done waits until the run has ended.
func (p *cmsPage) done() {
	p.t.Helper()
	p.status("Done")
	p.wait(`!document.querySelector(".activity").firstChild`)
}

func TestTheAssistantChangesTheSiteBesideItsPreview(t *testing.T) {
	p := openCMS(t, startCMS(t), "")
	p.say("Create an About page with a hero titled Hello")
	p.done()
	p.logged("user", "Create an About page")
	p.logged("call", "cms.createPage")
	p.logged("result", "cms.createPage")
	p.wait(`document.querySelector(".preview iframe").src.includes("/pages/about")`)
	p.say("delete the About page")
	p.wait(`document.querySelector("dialog.approvals").open`)
	p.keys("\x1b")
	p.wait(`document.querySelector("dialog.approvals").open`)
	p.screenshot("cms-approval.png")
	p.reload()
	p.wait(`document.querySelector("dialog.approvals")?.open`)
	p.press("dialog.approvals", "Approve")
	p.done()
	p.wait(`!document.querySelector("dialog.approvals").open`)
	p.logged("approval", "Approved")
	p.calm("404")
}

// TestTheAssistantInTwoTabsTakesOneDecision has one session open twice.
func TestTheAssistantInTwoTabsTakesOneDecision(t *testing.T) {
	p := openCMS(t, startCMS(t), "")
	p.say("delete the home page")
	p.wait(`document.querySelector("dialog.approvals").open`)
	other := openCMS(t, p.server, p.session())
	other.wait(`document.querySelector("dialog.approvals").open`)
	other.press("dialog.approvals", "Reject")
	other.press("dialog.approvals form", "Reject")
	for _, tab := range []*cmsPage{p, other} {
		tab.wait(`!document.querySelector("dialog.approvals").open`)
		tab.done()
		tab.logged("approval", "Rejected")
	}
	p.click(".log-tools input")
	p.keys("rejected")
	p.wait(`[...document.querySelectorAll(".entry:not([hidden])")].length < 5`)
	p.calm()
	other.calm()
}

func TestTheCMSPageLooksRightAndIsAccessible(t *testing.T) {
	server := startCMS(t)
	looks := []struct {
		name  string
		reach func(p *cmsPage)
	}{
		{"empty", func(*cmsPage) {}},
		{"work", func(p *cmsPage) {
			p.say("Create an About page with a hero titled Hello")
			p.done()
			p.say("Create an About page")
			p.logged("answer", "about-2")
			p.done()
		}},
		{"approval", func(p *cmsPage) {
			p.say("delete the home page")
			p.wait(`document.querySelector("dialog.approvals").open`)
		}},
	}
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			p := openCMS(t, server, "")
			l.reach(p)
			for _, theme := range []string{"light", "dark"} {
				for _, width := range []int64{1440, 820, 390} {
					p.screen(width, 900, theme)
					for _, area := range []string{"log", "chat", "preview"} {
						if width == 1440 && area != "chat" || width == 820 && area == "chat" || l.name == "approval" && area != "chat" && width != 820 {
							continue
						}
						if width < 1200 && l.name != "approval" {
							p.clickOn(`document.querySelector(".views [aria-controls=area-` + area + `]")`)
						}
						p.screenshot(fmt.Sprintf("cms-%s-%d-%s-%s.png", l.name, width, area, theme))
						require.Equal(t, "[]", p.text(overflow), "at a width of %d", width)
						if (width == 390) == (theme == "dark") {
							require.Empty(t, p.axe(), "at a width of %d, in %s", width, theme)
						}
					}
				}
			}
			p.calm("404")
		})
	}
}
