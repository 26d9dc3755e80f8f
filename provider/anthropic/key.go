package anthropic

import (
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set ANTHROPIC_API_KEY or Config.APIKey to a key from https://platform.claude.com/settings/keys"

// A credential authorizes requests.
type credential struct {
	adapter.Credential
	// option returns the request option for a key; nil if there is none.
	option func(key string) option.RequestOption
}

// newCredential finds the key: in the Config, else in the environment, if trusted says that it may be sent to the address.
func newCredential(cfg *Config, trusted, optional bool) (credential, error) {
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return credential{adapter.Fixed(key), option.WithAPIKey}, nil
	}
	if cfg.Key != nil {
		return credential{adapter.Asked(Name, cfg.Key), option.WithAPIKey}, nil
	}
	keyless := credential{Credential: adapter.Fixed("")}
	if !trusted || cfg.Header.Get("Authorization") != "" || cfg.Header.Get("X-Api-Key") != "" {
		return keyless, nil
	}
	if key := strings.TrimSpace(os.Getenv("ANTHROPIC_API_KEY")); key != "" {
		return credential{adapter.Fixed(key), option.WithAPIKey}, nil
	}
	if token := strings.TrimSpace(os.Getenv("ANTHROPIC_AUTH_TOKEN")); token != "" {
		return credential{adapter.Fixed(token), option.WithAuthToken}, nil
	}
	if optional {
		return keyless, nil
	}
	return credential{}, adapter.NoKey(Name, remedy)
}

// String describes the Config without its secrets: the key, the headers and the address.
func (c Config) String() string {
	return fmt.Sprintf("anthropic.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, adapter.Redacted(c.APIKey != ""), c.Key != nil, adapter.Redacted(c.BaseURL != ""), adapter.Redacted(len(c.Header) > 0), len(c.Models))
}

// GoString returns String.
func (c Config) GoString() string { return c.String() }

// Format writes String for every verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
