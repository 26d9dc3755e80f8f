package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

func TestATitleIsMadeFromTheNameAndTheInput(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"cms.deletePage", `{"page":"home"}`, "Delete page “home”"},
		{"fs/read_file", `{}`, "Read file"},
		{"cancel-order", `{"dry":true,"order":1002}`, "Cancel order 1002"},
		{"fetchURL2Text", ``, "Fetch URL2 text"},
		{"get_URL", `[1]`, "Get URL"},
		{"send", `{"body":"` + strings.Repeat("long ", 20) + `","to":"ann"}`, "Send “ann”"},
		{"send", `{"n":3,"body":"a\nb"}`, "Send"},
		{"send", `{"to":{"name":"ann"},"cc":["b"]}`, "Send"},
		{"send", `{"to":"ann"`, "Send “ann”"},
		{"send", `{"to":`, "Send"},
		{"...", ``, "..."},
		{"", ``, ""},
	} {
		require.Equal(t, c.want, tools.TitleOf(c.name, json.RawMessage(c.input)), "%s %s", c.name, c.input)
	}
}

func TestATitleNamesTheFirstPropertyOfTheSchemaThatIsRequired(t *testing.T) {
	type deletion struct {
		Reason string `json:"reason,omitempty"`
		Page   string `json:"page"`
		Site   string `json:"site"`
		Count  int    `json:"count,omitempty"`
	}
	d, err := tools.New(tools.Spec{Name: "cms.deletePage"},
		func(context.Context, deletion) (string, error) { return "", nil }).Define()
	require.NoError(t, err)
	for input, want := range map[string]string{
		`{"dry":true,"reason":"because","site":"blog","page":"home"}`: "Delete page “home”",
		`{"reason":"because","site":"blog"}`:                          "Delete page “blog”",
		`{"reason":"because"}`:                                        "Delete page “because”",
		`{"else":"x","count":3}`:                                      "Delete page “x”",
		`{"else":1,"count":3}`:                                        "Delete page 3",
		`{}`:                                                          "Delete page",
	} {
		require.Equal(t, want, d.Title(t.Context(), json.RawMessage(input)), input)
	}
}

func TestATitleIsOneShortLine(t *testing.T) {
	for in, want := range map[string]string{
		" a\r\n\tb\x00c\u2028d\u0085 ":   "a b c d",
		"delete \u202egnp.exe\u202c now": "delete gnp.exe now",
		"bad \xff":                       "bad \uFFFD",
		strings.Repeat("ü", 101):         strings.Repeat("ü", 98) + "…",
		strings.Repeat("x", 1<<20):       strings.Repeat("x", 197) + "…",
	} {
		got := tools.CleanTitle(in)
		require.Equal(t, want, got)
		require.LessOrEqual(t, len(got), tools.MaxTitle)
		require.True(t, utf8.ValidString(got))
		require.Equal(t, got, tools.CleanTitle(got))
	}
}

func TestAToolGivesItsCallsATitle(t *testing.T) {
	type page struct {
		Page string `json:"page"`
	}
	title := func(give func(page) string) string {
		d, err := tools.Func[page, string]{
			Spec:  tools.Spec{Name: "cms.deletePage"},
			Title: func(_ context.Context, in page) string { return give(in) },
			Run:   func(context.Context, page) (string, error) { return "", nil },
		}.Define()
		require.NoError(t, err)
		return d.Title(t.Context(), json.RawMessage(`{"page":"home"}`))
	}
	require.Equal(t, "Remove “home”\nfor good",
		title(func(in page) string { return "Remove “" + in.Page + "”\nfor good" }))
	require.Len(t, title(func(page) string { return strings.Repeat("x", 1<<20) }), 8*tools.MaxTitle)
	for name, give := range map[string]func(page) string{
		"it panics": func(page) string { panic("no") }, "it says nothing": func(page) string { return " \n" },
	} {
		require.Equal(t, "Delete page “home”", title(give), name)
	}
	d, err := tools.Raw{
		Spec:  tools.Spec{Name: "x"},
		Title: func(_ context.Context, in json.RawMessage) string { return "Do " + string(in) },
		Run:   func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil },
	}.Define()
	require.NoError(t, err)
	require.Equal(t, "Do {}", d.Title(t.Context(), json.RawMessage(`{}`)))
}
