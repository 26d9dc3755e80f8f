package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/pawlkit/pawl/provider/openai"
)

// made asks a server that gives this answer for images.
func made(t *testing.T, base string, req *provider.Request, status int, answer string) (*provider.Response,
	*wire.Offline, *openai.Model, error) {
	t.Helper()
	tr := &wire.Offline{Reply: wire.Always(status, answer)}
	m, err := openai.New(openai.Config{APIKey: embedKey, BaseURL: base, Model: "gpt-5",
		HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	if base != "" {
		m, err = openai.New(openai.Config{APIKey: embedKey, BaseURL: base, Model: "painter",
			HTTPClient: &http.Client{Transport: tr}})
		require.NoError(t, err)
	}
	res, err := provider.Generate(t.Context(), m, req)
	return res, tr, m, err
}

const twoImages = `{"created":1,"output_format":"webp","data":[{"b64_json":"AQI="},{"b64_json":"Aw==","revised_prompt":"A red cat"}],
	"usage":{"input_tokens":10,"output_tokens":272,"total_tokens":282,"input_tokens_details":{"text_tokens":10}}}`

func TestImagesAreMade(t *testing.T) {
	res, tr, m, err := made(t, "",
		&provider.Request{System: "Draw.", Messages: []provider.Message{provider.User("A cat")},
			Images: &provider.ImageOptions{Count: 2, Size: "1024x1024", Quality: "low"}}, 200, twoImages)
	require.NoError(t, err)
	require.Equal(t, "https://api.openai.com/v1/images/generations", tr.Asked[0].URL.String())
	require.Equal(t, `{"model":"gpt-image-1","n":2,"prompt":"Draw.\n\nA cat","quality":"low","size":"1024x1024"}`,
		string(tr.Bodies[0]))
	require.Equal(t, []*provider.Media{{Type: "image/webp", Data: []byte{1, 2}}, {Type: "image/webp", Data: []byte{3}}},
		res.Files())
	require.Equal(t, "A red cat", res.Text())
	require.EqualValues(t, 10, res.Usage.Input)
	require.EqualValues(t, 272, res.Usage.Output)
	info, ok := m.InfoOf("gpt-image-1")
	require.True(t, ok)
	require.Equal(t, "$0.010980", info.Prices.Cost(res.Usage).String(), "10 tokens at $10 and 272 at $40 a million")
}

func TestImagesOfAnotherServer(t *testing.T) {
	res, tr, _, err := made(t, "http://localhost:8080/v1",
		&provider.Request{Messages: []provider.Message{provider.User("A cat")}, Images: &provider.ImageOptions{},
			Options: map[string]json.RawMessage{"openai": json.RawMessage(`{"background":"transparent"}`)}}, 200,
		`{"data":[{"url":"http://localhost:8080/1.png"}]}`)
	require.NoError(t, err)
	require.Equal(t, `{"background":"transparent","model":"painter","n":1,"prompt":"A cat"}`, string(tr.Bodies[0]))
	require.Equal(t, []*provider.Media{{Type: "image/png", URL: "http://localhost:8080/1.png"}}, res.Files())
}

func TestImagesThatCantBeMade(t *testing.T) {
	ask := provider.Request{Messages: []provider.Message{provider.User("A cat")}, Images: &provider.ImageOptions{}}
	photo := ask
	photo.Messages = []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("like this"),
		provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{1}})}}}
	many, empty, armed := ask, ask, ask
	many.Images = &provider.ImageOptions{Count: 11}
	empty.Messages = []provider.Message{provider.Assistant("Hm.")}
	armed.Tools = []provider.Tool{{Name: "x"}}
	for name, c := range map[string]struct {
		req    provider.Request
		status int
		answer string
		want   string
	}{
		"from a photo": {photo, 200, twoImages, "describe them in text"},
		"too many":     {many, 200, twoImages, "it can be 1 to 10"},
		"of nothing":   {empty, 200, twoImages, "needs a user message"},
		"with tools":   {armed, 200, twoImages, "can't have tools"},
		"none":         {ask, 200, `{"data":[]}`, "the answer has no images"},
		"empty":        {ask, 200, `{"data":[{}]}`, "an image has no content"},
		"no base64":    {ask, 200, `{"data":[{"b64_json":"%"}]}`, "the images can't be decoded"},
		"events":       {ask, 200, "data: {}\n\n", "a stream of events"},
		"nothing":      {ask, 200, "", "complete"},
		"an error":     {ask, 200, `{"error":{"message":"no ` + embedKey + `"}}`, "no "},
		"filtered": {ask, 400,
			`{"error":{"message":"Your request was rejected by the safety system","code":"moderation_blocked"}}`,
			"safety system"},
		"down": {ask, 503, embedKey, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := made(t, "", &c.req, c.status, c.answer)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), embedKey)
			require.NotEqual(t, fault.None, fault.Of(err))
		})
	}
}
