package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
)

var kills = flag.Int("kills", 0, "how often the program is killed while the team is at work")

// A server is the program as a process.
type server struct {
	t    *testing.T
	bin  string
	at   string
	cmd  *exec.Cmd
	in   io.Closer
	url  string
	down chan struct{}
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// start starts the process, and waits for its address.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.bin, "-dir", filepath.Join(s.at, "programs"), "-addr", "127.0.0.1:0", "-model", "standin",
		"-pace", "2ms")
	var err error
	s.in, err = s.cmd.StdinPipe()
	require.NoError(s.t, err)
	out, err := s.cmd.StdoutPipe()
	require.NoError(s.t, err)
	s.cmd.Stderr = os.Stderr
	require.NoError(s.t, s.cmd.Start())
	found, down := make(chan string, 1), make(chan struct{})
	s.down = down
	go func() {
		defer close(down)
		var all bytes.Buffer
		buf := make([]byte, 4096)
		for {
			n, err := out.Read(buf)
			all.Write(buf[:n])
			if url := address.FindString(all.String()); url != "" && len(found) == 0 && found != nil {
				found <- url
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case s.url = <-found:
	case <-time.After(30 * time.Second):
		require.Fail(s.t, "the program doesn't start")
	}
}

// end ends the process with a signal.
func (s *server) end(sig os.Signal) {
	_ = s.cmd.Process.Signal(sig)
	<-s.down
	_ = s.cmd.Wait()
	_ = s.in.Close()
	http.DefaultClient.CloseIdleConnections()
}

func (s *server) post(path string, body any) int {
	raw, err := json.Marshal(body)
	require.NoError(s.t, err)
	res, err := http.Post(s.url+path, "application/json", bytes.NewReader(raw))
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func (s *server) pending(session string) (list []agent.Pause) {
	res, err := http.Get(s.url + "/sessions/pending?session=" + session)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	var body struct{ Pending []agent.Pause }
	_ = json.NewDecoder(res.Body).Decode(&body)
	return body.Pending
}

// waits waits for a pause whose title begins so.
func (s *server) waits(session, title string) agent.Pause {
	s.t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, p := range s.pending(session) {
			for _, one := range p.Flat() {
				if strings.HasPrefix(one.Title, title) {
					return one
				}
				require.NotEqual(s.t, agent.PauseInDoubt, one.Kind, "%+v", one)
			}
		}
	}
	require.Fail(s.t, "nothing waits", "%s: %s: %+v", session, title, s.pending(session))
	return agent.Pause{}
}

func (s *server) decide(session string, d map[string]any) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.post("/sessions/decide", map[string]any{"session": session,
			"decisions": []any{d}}) == http.StatusAccepted
	}, 20*time.Second, 100*time.Millisecond)
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(text)
		return err
	}))
	return all
}

// The program is killed again and again while two engineers write, a question of another
// conversation waits, and the librarian looks something up in the background. The same files come
// out, nothing is written twice, and the report is told once.
func TestTheProgramMayBeKilled(t *testing.T) {
	if *kills == 0 {
		t.Skip("-kills")
	}
	bin := filepath.Join(t.TempDir(), "team")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	var want map[string]string
	for done := 0; done < *kills || want == nil; {
		perTrial := 3
		if want == nil {
			perTrial = 0 // what comes out without
		}
		s := &server{t: t, bin: bin, at: t.TempDir()}
		s.start()
		require.Equal(t, http.StatusAccepted, s.post("/sessions/send", map[string]any{"session": "other",
			"text": "Build a slug package"}))
		other := s.waits("other", "Ask")
		s.post("/sessions/send", map[string]any{"session": "main", "text": "Build a command that counts words"})
		p := s.waits("main", "Ask")
		s.decide("main", map[string]any{"id": p.ID, "decision": "answer", "value": "Only the total"})
		p = s.waits("main", "Carry out")
		s.decide("main", map[string]any{"id": p.ID, "decision": "approve"})
		require.Eventually(t, func() bool { // once the plan has begun, it is answered beside it
			return s.post("/sessions/send", map[string]any{"session": "main",
				"text": "look up how other tools count words"}) == http.StatusAccepted
		}, 20*time.Second, 300*time.Millisecond)
		for range perTrial {
			time.Sleep(time.Duration(rand.IntN(2500)) * time.Millisecond)
			s.end(os.Kill)
			done++
			s.start()
			time.Sleep(time.Duration(3000+rand.IntN(2000)) * time.Millisecond) // the leases of the dead process end
		}
		p = s.waits("main", "Run go test -count=1 -cover")
		require.Equal(t, other.ID, s.waits("other", "Ask").ID)
		s.decide("main", map[string]any{"id": p.ID, "decision": "approve"})
		s.decide("other", map[string]any{"id": other.ID, "decision": "reject", "reason": "no"})
		files := filepath.Join(s.at, "programs")
		require.Eventually(t, func() bool { return strings.Contains(fmt.Sprint(messages(s, "main")), "It is done") },
			60*time.Second, 50*time.Millisecond, "%v", s.pending("main"))
		db := filepath.Join(s.at, ".pawl", "programs.db")
		if !assert.Eventually(t, func() bool { return reports(t, db) > 0 }, 60*time.Second, 200*time.Millisecond) {
			heads(t, db)
		}
		got := tree(t, files)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
		s.end(os.Interrupt)
		onceOnly(t, db)
		t.Logf("%d kills", done)
	}
}

func messages(s *server, session string) any {
	res, err := http.Get(s.url + "/sessions/messages?session=" + session)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

// eachFact calls f with the facts of all sessions in a journal.
func eachFact(t *testing.T, db string, f func(session string, fact agent.Event)) {
	t.Helper()
	store, err := sqlite.Open(db, sqlite.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	a, err := agent.New(agent.Config{Name: "reader", Provider: providertest.Script(), Journal: store})
	require.NoError(t, err)
	for h, err := range store.Heads(t.Context(), journal.Filter{NoKind: true}) {
		require.NoError(t, err)
		facts, err := a.Session(h.Session).Facts(t.Context())
		require.NoError(t, err)
		for _, one := range facts {
			f(h.Session, one)
		}
	}
}

// reports returns how many reports of work in the background the conversations have read.
func reports(t *testing.T, db string) (n int) {
	t.Helper()
	eachFact(t, db, func(_ string, f agent.Event) {
		text := ""
		switch f := f.(type) {
		case *agent.RunStarted:
			text = f.Message.Text()
		case *machine.Steered:
			text = f.Message.Text()
		}
		if strings.HasPrefix(text, "The program says") {
			n++
		}
	})
	return n
}

// heads logs how all sessions stand.
func heads(t *testing.T, db string) {
	t.Helper()
	store, err := sqlite.Open(db, sqlite.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	for h, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		t.Logf("%+v", h)
	}
}

// onceOnly requires that each step has written each file once in a round, and that each report was
// told once.
func onceOnly(t *testing.T, db string) {
	t.Helper()
	writes := make(map[string]int)
	eachFact(t, db, func(session string, f agent.Event) {
		if done, ok := f.(*agent.ToolFinished); ok && done.Call.Name == "file.write" {
			require.True(t, done.Result.Status.Good(), "%s: %s", session, done.Result.Text())
			writes[session+done.Run()+string(done.Call.Input)]++
		}
	})
	for what, n := range writes {
		require.Equal(t, 1, n, "%s", what)
	}
	require.Len(t, writes, 6, "two tests, two parts, one repair, one command")
	require.Equal(t, 1, reports(t, db))
}
