package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestARequestForAnImage(t *testing.T) {
	text, err := sentText(t, &provider.Request{Messages: []provider.Message{provider.User("A cat")},
		Images: &provider.ImageOptions{Size: "16:9"}})
	require.NoError(t, err)
	require.Contains(t, string(text),
		`"generationConfig":{"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"16:9"}}`)
	for want, req := range map[string]*provider.Request{
		"a request makes one image": {Images: &provider.ImageOptions{Count: 2}},
		"it can be 1 to 10":         {Images: &provider.ImageOptions{Count: 20}},
		"has no qualities":          {Images: &provider.ImageOptions{Quality: "high"}},
		"gemini-2.5-pro makes no":   {Images: &provider.ImageOptions{}, Model: "gemini-2.5-pro"},
	} {
		req.Messages = []provider.Message{provider.User("A cat")}
		_, err := sentText(t, req)
		require.ErrorContains(t, err, want)
	}
}
