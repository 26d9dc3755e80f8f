package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
)

func TestARequestForImagesIsRefused(t *testing.T) {
	m, err := anthropic.New(anthropic.Config{APIKey: "k"})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m,
		&provider.Request{Messages: []provider.Message{provider.User("A cat")}, Images: &provider.ImageOptions{}})
	require.ErrorIs(t, err, provider.ErrNoImages)
}
