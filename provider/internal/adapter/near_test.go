package adapter_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func TestWhichServersAreNear(t *testing.T) {
	for address, near := range map[string]bool{
		"http://localhost:11434/v1": true, "http://127.0.0.1": true, "http://[::1]:80": true, "http://10.1.2.3": true,
		"http://192.168.0.9:8000": true, "http://169.254.1.1": true, "http://box:8080": true, "http://BOX.local": true,
		"https://gateway.internal/v1": true, "http://a.localhost.": true,
		"https://api.openai.com/v1": false, "http://8.8.8.8": false, "https://[2606:4700::1]": false,
		"https://mylocal.example": false, "https://internal.example.com": false,
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, near, adapter.NewClient(adapter.ClientConfig{Base: u}).Near(), address)
	}
	require.False(t, (*adapter.Client)(nil).Near())
}
