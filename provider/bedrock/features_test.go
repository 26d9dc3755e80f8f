package bedrock_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/features"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/bedrock"
)

func TestThePageOfProvidersIsTrue(t *testing.T) {
	features.Check(t, filepath.Join("..", "..", "docs", "providers.md"), &features.API{Column: "Converse",
		Key: bedrock.Name, Model: nova, Answer: features.Plain["Converse"],
		Open: func(t testing.TB, _ string, transport http.RoundTripper) provider.Provider {
			m, err := bedrock.New(t.Context(), bedrock.Config{Model: nova, Region: "us-east-1",
				Credentials: aws.NewCredentialsCache(credentials()), HTTPClient: &http.Client{Transport: transport}})
			require.NoError(t, err)
			return m
		}})
}
