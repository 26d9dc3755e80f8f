package wire

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

const answered = `think Let me see.
text It is
text  cold, Zoë.
call c1 weather {"city":"Oslo"}
call c2 weather {}
ran p1 search {"q":"oslo"}
done tool_calls {"input":10,"output":20,"cache_read":5,"cache_write":1,"reasoning":7}
`

// handWritten returns a case in the toy's format.
func handWritten(status int, body string) *Case {
	c := Answer("toy", status, "text/plain", body)
	c.Provider = "toy"
	return c
}

// updating runs f with -update.
func updating(f func()) {
	before := *update
	*update = true
	defer func() { *update = before }()
	f()
}

func TestARunIsComparedWithWhatItWroteBefore(t *testing.T) {
	t.Chdir(t.TempDir())
	limited := handWritten(429, "slow_down Not so fast.")
	limited.Name = "limited"
	cfg := Config{Cases: []*Case{handWritten(200, answered), limited}, New: newToyLoop}
	updating(func() { Run(t, cfg) })
	text, err := os.ReadFile(recordings)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t,
		`^hand-written/0 end=tool_calls parts=5 provider_call=1 reasoning=1 text=1 tool_call=2 usage=10,20,5,1,7 answer=[0-9a-f]{16} next=[0-9a-f]{16}$`, lines[0])
	require.Contains(t, lines[1], "limited/0 end=error:rate_limited:429 parts=0 ")
	require.NotContains(t, string(text), "Zoë", "what is recorded isn't copied")
	Run(t, cfg)
}

func TestEveryDifferenceChangesTheLine(t *testing.T) {
	fresh := New(newToyLoop)
	line := func(body string) string {
		g, _ := fresh.golden(t, handWritten(200, body), 0)
		return g.line(t)
	}
	right := line(answered)
	for _, change := range [][2]string{
		{"cold", "warm"}, {"Let me", "Let us"}, {"Oslo", "Bergen"}, {"c2 weather", "c2 wetter"}, {"call c1", "call c3"},
		{`{"q":"oslo"}`, `{}`},
		{"done tool_calls", "done stop"}, {`"input":10`, `"input":16`}, {"call c2 weather {}\n", ""},
		{"text It is", "refuse It is"},
	} {
		require.NotEqual(t, right, line(strings.Replace(answered, change[0], change[1], 1)), change[0])
	}
}

func TestTheNextRequestIsPartOfTheLine(t *testing.T) {
	c := handWritten(200, answered)
	theirs, _ := New(newToyLoop).golden(t, c, 0)
	ours, _ := New(newToy).golden(t, c, 0)
	require.Contains(t, string(theirs.Next), `"tool_call_id":"c2"`)
	require.Contains(t, string(ours.Next), `"tool_call_id":"run.1.1"`)
	require.NotEqual(t, theirs.line(t), ours.line(t))
}

func TestADecoderThatDependsOnHowBytesArriveIsWrong(t *testing.T) {
	c := handWritten(200, answered)
	sloppy := New(newSloppy)
	require.Contains(t, sloppy.split(t, c, 0, sloppy.play(t, c, 0, nil)), "byte by byte")
	right := New(newToy)
	require.Empty(t, right.split(t, c, 0, right.play(t, c, 0, nil)))
	require.NotEqual(t, sloppy.play(t, c, 0, inPieces(1)).content(), right.play(t, c, 0, nil).content())
}

func TestACallThatLeavesABodyOpenIsFound(t *testing.T) {
	leaky := New(func(t testing.TB, baseURL string, client *http.Client, c *Case) provider.Provider {
		return newToy(t, baseURL, &http.Client{Transport: splitting{unclosed{client.Transport}}}, c)
	})
	require.Contains(t, outcomeOf(t, func(t testing.TB) { leaky.play(t, handWritten(200, answered), 0, nil) }),
		"left the body of an answer open")
}

// unclosed answers with bodies whose Close has no effect.
type unclosed struct{ http.RoundTripper }

func (u unclosed) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := u.RoundTripper.RoundTrip(req)
	res.Body = io.NopCloser(res.Body)
	return res, err
}

func TestRandomCutsAndSplitsOfARightDecoder(t *testing.T) {
	Random(t,
		Config{Cases: []*Case{handWritten(200, answered), handWritten(429, "slow_down Not so fast.")}, New: newToy})
}

func TestACutThatIsDecodedWronglyIsFound(t *testing.T) {
	whole := &outcome{Response: &provider.Response{Parts: []provider.Part{provider.TextPart("It is cold.")}}}
	text := func(s string) *provider.Response {
		return &provider.Response{Parts: []provider.Part{provider.TextPart(s)}}
	}
	require.Empty(t, cutWrong(&outcome{Response: text("It is"), err: provider.ErrIncomplete}, whole))
	require.Empty(t, cutWrong(&outcome{Response: text("It is cold.")}, whole))
	require.Contains(t, cutWrong(&outcome{Response: text("It is")}, whole), "no error, and 5 bytes of 11")
	require.Contains(t, cutWrong(&outcome{Response: text("It was"), err: provider.ErrIncomplete}, whole),
		"isn't the beginning")
	require.Contains(t, cutWrong(&outcome{Response: text("It is"), err: t.Context().Err()},
		&outcome{Response: text("It is"), err: provider.ErrIncomplete}), "the whole answer has one")
}

func TestQuirksAreComparedWithTheirGoldenFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(quirks, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(quirks, "two-texts.txt"), []byte(answered), 0o600))
	tables := map[string][]Quirk{"toy": {{Name: "two-texts", File: "two-texts.txt", Status: 200}}}
	updating(func() { Quirks(t, newToyLoop, tables) })
	Quirks(t, newToyLoop, tables)
	golden, err := os.ReadFile(filepath.Join(quirks, "two-texts.txt.golden"))
	require.NoError(t, err)
	require.Contains(t, string(golden), "It is cold, Zoë.")

	list := t.TempDir()
	t.Setenv(Variable, list)
	require.NoError(t,
		os.WriteFile(filepath.Join(list, "QUIRKS.md"),
			[]byte(
				"* **two-texts** - two texts. [toy, 3]\n* **other** - another. [toy, 1]\n* **third** - of others. "+
					"[morse, 1]\n"), 0o600))
	require.Equal(t, "failed: wire: no exchange shows the quirk other of toy",
		outcomeOf(t, func(t testing.TB) { Listed(t, tables) }))
}

func TestCutStreamsOfARightDecoderAreErrors(t *testing.T) {
	EveryCut(t, newToy, handWritten(200, answered), "done ")
}

func TestACallToAHangingServerEnds(t *testing.T) { Hanging(t, newToy, handWritten(200, answered)) }

func TestTheToyConforms(t *testing.T) { Conformance(t, newToy, handWritten(200, answered)) }
