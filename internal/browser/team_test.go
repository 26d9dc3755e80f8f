package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Questions about each screenshot of the team's page (-screens), to be answered with yes or no from
// the picture alone. Yes is right for the first twelve, and no for the rest.
//
//  1. Is it clear what can be done next, and with which button?
//  2. Is it clear who works on what at this moment?
//  3. Is it said before a decision what it will change?
//  4. Does the page say that a stand-in answers, and what is real?
//  5. Is the directory named in which files are written?
//  6. Is it clear which steps wait for which, and which run at the same time?
//  7. Is it clear which checks each step has to pass, and how they ended?
//  8. Is a failed check shown with what the program really printed, and with the round?
//  9. Is it clear what differs from the version before, without reading both?
//  10. Can a decision be found from both areas, also on a phone?
//  11. Is a command that waits for a permission shown as it will run?
//  12. Does the confirmation of the undo list every file that goes?
//  13. Is a text cut off, does anything overlap, or is a line wider than its box?
//  14. Does a color say something that no word or sign says?
//  15. Are two buttons next to each other that do nearly the same?
//
// What people do, and what has to come of it:
//
//   - a double click on Approve: the plan is carried out once, and the click hits nothing else
//   - Approve of an old version, in a tab that was asleep: it is refused, and nothing runs
//   - reload in the middle of the work, or back: the same screen
//   - two tabs: one decision counts, and both show it
//   - a decision on the page while the terminal asks the same, and the other way round
//   - the process is killed: a quiet bar, and the page goes on by itself
//   - a phone: the tab of the plan says that something waits; a link leads there and back
//   - the keyboard alone: each decision, each fold, the undo and its confirmation; the focus stays
//   - Escape in the middle of a change: the buttons are there again, and nothing was sent
//   - Enter in an empty change: nothing is sent, and the field says so
//   - a message while a plan waits for approval: it is a change
//   - a click on Undo everything by mistake: Escape keeps all

// teamProgram builds the program team, once, and returns its name.
var teamProgram = sync.OnceValues(func() (string, error) {
	program, err := filepath.Abs(filepath.Join(out, "team"))
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./examples/team")
	build.Dir = filepath.Join("..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return program, nil
})

// A teamServer is the program team in a process of its own, with a directory of its own.
type teamServer struct {
	t    *testing.T
	dir  string
	pace string // how fast the stand-in types
	env  []string
	at   string // the address with the port
	kill func() // with -9
}

func startTeam(t *testing.T, pace string, env ...string) *teamServer {
	t.Helper()
	s := &teamServer{t: t, dir: filepath.Join(t.TempDir(), "programs"), pace: pace, env: env, at: "127.0.0.1:0"}
	s.start()
	return s
}

// start starts the server, at the address that it had before, and waits until it listens.
func (s *teamServer) start() {
	s.t.Helper()
	program, err := teamProgram()
	require.NoError(s.t, err)
	cmd := exec.CommandContext(s.t.Context(), program, "-addr", s.at, "-dir", s.dir, "-model", "standin", "-pace",
		s.pace)
	cmd.Env = append(os.Environ(), s.env...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	_, err = cmd.StdinPipe() // nobody types in the terminal, which ends the program if it is closed
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	var reading sync.WaitGroup
	s.kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	s.t.Cleanup(s.kill)
	lines := bufio.NewScanner(stdout)
	for !strings.Contains(lines.Text(), "http://") {
		require.True(s.t, lines.Scan(), lines.Err())
	}
	_, at, _ := strings.Cut(lines.Text(), "http://")
	s.at, _, _ = strings.Cut(at, "/")
	reading.Go(func() { _, _ = io.Copy(io.Discard, stdout) })
}

// A teamPage is the page of the team.
type teamPage struct {
	*builtIn
	server *teamServer
}

func openTeam(t *testing.T, server *teamServer, query string) *teamPage {
	t.Helper()
	p := &teamPage{&builtIn{open(t, "about:blank")}, server}
	p.screen(1440, 900, "light")
	p.run(chromedp.Navigate("http://" + server.at + "/" + query))
	p.wait(`document.querySelector(".app") && document.querySelector(".board-scroller")`)
	return p
}

// looks looks at the page in all sizes. On a phone it looks at both areas.
func (p *teamPage) looks(nth int, name string) {
	p.t.Helper()
	for _, at := range sizes() {
		p.screen(at.width, 900, at.theme)
		for _, area := range []string{"chat", "board"} {
			if at.width == 390 {
				p.text(`document.querySelector(".views [aria-controls=area-` + area + `]").click(), ""`)
			} else if area == "chat" {
				continue
			}
			p.drawn(fmt.Sprintf("team-%s-%d-%s-%s.png", name, at.width, area, at.theme))
			require.Equal(p.t, "[]", p.text(overflow), "%s at a width of %d", name, at.width)
			if at.checked(nth) {
				require.Empty(p.t, p.axe(), "%s at a width of %d, in %s", name, at.width, at.theme)
			}
		}
	}
	p.screen(1440, 900, "light")
}

// teamStep returns a script whose value is the card of a step.
func teamStep(id string) string {
	return fmt.Sprintf(`document.querySelector(".step[data-step=%s]")`, id)
}

// asked makes a request, and answers the guide's question, until the first plan waits for approval.
func (p *teamPage) asked(request string) {
	p.t.Helper()
	p.press(".examples", request)
	const answers = `document.querySelectorAll(".card .fields button")`
	p.wait(answers + `.length > 1 && document.querySelector(".call.success")`)
	p.looks(1, "request")
	p.clickOn(answers + `[0]`)
	p.wait(`document.querySelector(".decision.plan")`)
}

// change asks for another version of the plan, with the keyboard.
func (p *teamPage) change(what string) {
	p.t.Helper()
	before := p.text(`document.querySelector(".decision").dataset.ask`)
	p.press(".decision", "Change")
	p.wait(`document.activeElement.matches(".decision textarea")`)
	p.keys(what)
	p.tabTo("Ask for the change")
	p.keys(kb.Enter)
	p.wait(`document.querySelector(".decision.plan") &&
		document.querySelector(".decision").dataset.ask !== ` + quote(before))
}

// TestTheTeamBuildsAProgram is the story of examples/team in one page, with real files and real
// tests: two versions of a plan, a test that fails, a process that is killed, and an undo.
func TestTheTeamBuildsAProgram(t *testing.T) {
	t.Parallel()
	s := startTeam(t, "5ms")
	p := openTeam(t, s, "?session=main") // as it is printed; it doesn't exist yet
	p.wait(`document.querySelector(".blank h2")?.textContent === "A team that builds Go programs"`)
	p.wait(`document.querySelector(".blank").textContent.includes("A stand-in answers.")`)
	p.wait(`document.querySelectorAll(".examples button").length === 3 &&
		document.querySelector(".place-grants .panel")`)
	p.light()
	p.looks(0, "empty")
	p.asked("Build a command that counts words")
	require.Equal(t, "main", p.session())
	require.Equal(t, "3 4",
		p.text(`document.querySelectorAll(".layer").length + " " + document.querySelectorAll(".step").length`))
	p.looks(2, "plan")

	first := p.text(`document.querySelector(".decision").dataset.ask`)
	p.press(".decision", "Change")
	p.press(".decision", "Ask for the change") // without a text
	p.wait(`document.querySelector(".decision textarea").getAttribute("aria-invalid") === "true"`)
	p.keys(kb.Escape)
	p.wait(`document.activeElement.matches(".decision .primary")`)
	p.change("Add a README")
	p.wait(`document.querySelector(".version").textContent === "Version 2" &&
		document.querySelector(".since").textContent.endsWith("1 new")`)
	require.Equal(t, "1", p.text(`String(document.querySelectorAll(".step.added").length)`))
	p.looks(3, "version")
	p.picture("plan.png", 1360, 800, "light")
	require.Equal(t, "409",
		p.post("decide", fmt.Sprintf(`{session, decision: {id: %s, kind: "approve"}}`, quote(first))))

	other := openTeam(t, s, "?session=main#board")
	other.wait(`document.querySelector(".decision.plan")`)
	p.doubleClick(`document.querySelector(".decision .primary")`)
	other.wait(teamStep("tests") + `.dataset.status !== "pending" && !document.querySelector(".decision")`)
	other.calm()
	p.wait(`[...document.querySelectorAll(".wide .step")].every(
		s => ["running", "reviewing"].includes(s.dataset.status))`)
	p.wait(`(step => step.querySelector(".round")?.textContent === "Round 2 of 3" &&
		step.querySelector(".output")?.textContent.includes("--- FAIL: TestWords"))(` + teamStep("count") + `)`)
	p.picture("work.png", 1360, 800, "dark")
	p.reload()
	s.kill()
	p.wait(`document.querySelector(".tops .bar:not([hidden])")`)
	s.start()
	p.wait(`document.querySelector(".decision.call .command")?.textContent.includes("go test -count=1 -cover")`)
	p.wait(`document.querySelector(".tops .bar").hidden && document.querySelector(".see")`)
	p.looks(4, "permission")
	require.Contains(t, p.text(`document.querySelector(".there > .card .buttons").textContent`),
		"Always allow go test … in this project", "the chat says the same")
	p.picture("phone.png", 390, 720, "light")
	p.keys(kb.ArrowUp, chromedp.ModifierAlt) // to the decision
	p.wait(`document.activeElement.textContent === "Once"`)
	p.tabTo("Always allow go test … in this project")
	p.keys(kb.Enter)
	p.wait(`document.querySelector(".grants li")?.textContent.includes("go test")`)
	p.wait(`document.querySelector(".outcome .output")?.textContent.trim().endsWith("total")`)
	p.has("It is done")
	p.looks(5, "done")
	p.press(".grants", "Revoke: go test …")
	p.wait(`!document.querySelector(".grants li")`)

	p.press(".outcome", "Undo everything")
	p.wait(`document.querySelectorAll("dialog[open] .goes li").length === 6 &&
		document.activeElement.textContent === "Keep them"`)
	p.keys(kb.Escape)
	p.wait(`!document.querySelector("dialog[open]") && document.querySelector(".panel.outcome")`)
	p.press(".outcome", "Undo everything")
	p.press("dialog[open]", "Undo 6 files")
	p.wait(`!document.querySelector(".panel.outcome") &&
		document.querySelectorAll(".step[data-status=undone]").length === 5`)
	left, err := filepath.Glob(filepath.Join(s.dir, "*", "*.go"))
	require.NoError(t, err)
	require.Empty(t, left)
	p.calm("net::ERR", "409")
}

// TestTheRareScreensOfTheTeam looks at what the story doesn't show.
func TestTheRareScreensOfTheTeam(t *testing.T) {
	t.Parallel()
	if !*screens {
		t.Skip("they are looked at with -screens")
	}
	t.Run("stuck", func(t *testing.T) {
		p := openTeam(t, startTeam(t, "1ms"), "")
		p.asked("Build a command that counts words")
		p.change("Only one try")
		p.press(".decision", "Approve")
		p.wait(`document.querySelector(".decision.step") && document.querySelector(".see")`)
		p.looks(0, "stuck")
		p.press(".decision", "Another round")
		p.wait(`document.querySelector(".decision.call")`)
		p.press(".decision", "No")
		p.wait(`document.querySelector(".panel.outcome")`)
	})
	t.Run("beside", func(t *testing.T) {
		p := openTeam(t, startTeam(t, "20ms"), "")
		p.asked("Build a command that counts words")
		p.press(".decision", "Approve")
		p.wait(teamStep("tests") + `.dataset.status === "running"`)
		p.screen(390, 900, "light")
		p.press(".views", "Chat")
		p.say("Look up how other tools count words")
		p.press(".toast", "See")
		p.wait(`document.querySelector(".board")?.checkVisibility() && document.querySelector(".works .fold .talk")`)
		p.looks(1, "beside")
	})
	t.Run("message", func(t *testing.T) { // instead of the button Change
		p := openTeam(t, startTeam(t, "1ms"), "")
		p.asked("Build a package that makes slugs")
		p.say("Add a README")
		p.press(".composer", "Send anyway")
		p.wait(`document.querySelector(".version").textContent === "Version 2" && document.querySelector(".step.added")`)
		p.press(".decision", "Reject")
		p.wait(`document.querySelector(".state.bad")?.textContent === "Rejected"`)
		p.looks(1, "rejected")
	})
	t.Run("goless", func(t *testing.T) {
		p := openTeam(t, startTeam(t, "1ms", "PATH=/nowhere"), "")
		p.wait(`document.querySelector(".goless")`)
		p.looks(0, "goless")
	})
}

// doubleClick clicks twice on the middle of an element.
func (p *teamPage) doubleClick(element string) {
	p.t.Helper()
	at := p.middle(element)
	p.run(chromedp.MouseClickXY(at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(2)))
}

// post makes a request of the page, and returns the status of the answer.
func (p *teamPage) post(what, body string) string {
	p.t.Helper()
	p.text(`window.answered = "", (session => fetch("board/` + what + `", {method: "POST", body: JSON.stringify(` + body +
		`)}).then(r => window.answered = String(r.status)))(new URLSearchParams(location.search).get("session")), ""`)
	p.wait(`window.answered`)
	return p.text(`window.answered`)
}

// light requires that the page asks for little, and only its own server. The times are reported.
func (p *teamPage) light() {
	p.t.Helper()
	p.wait(`performance.getEntriesByName("first-contentful-paint").length > 0`)
	var got struct {
		Paint, Ready, Requests, Bytes int
		Foreign                       []string
	}
	require.NoError(p.t, json.Unmarshal([]byte(p.text(painted)), &got))
	require.Empty(p.t, got.Foreign)
	require.LessOrEqual(p.t, got.Requests, 48)
	require.LessOrEqual(p.t, got.Bytes, 300_000)
	p.t.Logf("first paint after %d ms, ready after %d ms, %d requests, %d bytes", got.Paint, got.Ready, got.Requests,
		got.Bytes)
}

// picture draws a picture of the README, with -pictures.
func (p *teamPage) picture(name string, width, height int64, theme string) {
	p.t.Helper()
	if !*drawPictures {
		return
	}
	p.screen(width, height, theme)
	p.text(`document.querySelector(".decision:not(.plan)")?.scrollIntoView({block: "center"}), ""`)
	p.screenshot("team-" + name)
	data, err := os.ReadFile(filepath.Join(out, "screenshots", "team-"+name))
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join("../../examples/team/pictures", name), data, 0o644))
	p.screen(1440, 900, "light")
}
