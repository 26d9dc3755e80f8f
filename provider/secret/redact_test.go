package secret_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/secret"
)

func TestSecretsAreFoundInTheirCommonForms(t *testing.T) {
	const long = "hunter2hunter2hunter2"
	for _, text := range []string{
		`log: {\"password\":\"hunter2\",\"n\":1}`, `{"password":"a\"hunter2 b"}`, `password="hunter2 is open`,
		`password='hunter2 is open`, "AWS_SECRET_ACCESS_KEY=hunter2",
		"private_key: hunter2", "secretKey = 'hunter2'", "passphrase: hunter2",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----",
		"-----BEGIN PRIVATE KEY-----\nhunter2", "postgres://ann:p@hunter2@db/x", "password => hunter2",
		"password := hunter2", "X-Api-Key:hunter2", "PGPASSWORD=hunter2",
		"password=\nhunter2", "password: [hunter2]", `password="hunter2"abc`,
		"DB_PASS=hunter2", "db-pass: hunter2", "pass: hunter2", "npm_" + long, "hf_" + long, "SG." + long + "." + long,
		"whsec_" + long, "dop_v1_" + long,
		"sk-proj-" + long, "gho_" + long, "xoxb-" + long, "Authorization: Bearer " + long,
		"rediss://:hunter2@cache:6380", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nhunter2",
	} {
		clean := secret.Redact(text)
		require.NotContains(t, clean, "hunter2", text)
		require.Contains(t, clean, secret.Redacted)
		require.Equal(t, clean, secret.Redact(clean), "redacting again changes nothing")
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	for _, text := range []string{
		"The token budget is 100.", "https://example.com:8080/a@b", "the password has changed", "a secret: ",
		"monkey: banana", "keyboard = us",
		"password: required", "Password: required.", `"password": "string"`, `{"token": null}`, "token: expired",
		"api_key: missing!", "bypass: hunter2", "compass=north",
		`password = os.Getenv("DB_PASSWORD")`, "token: ${TOKEN}", "password={{ .Password }}", "hf_models", "npm_config",
		"SG.1", "password: [redacted]",
	} {
		require.Equal(t, text, secret.Redact(text))
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{`{"api_key":"a\"b"}`, "token: x", "https://a:b@c", "Bearer abcdefghijklmnop",
		"-----BEGIN PRIVATE KEY-----", "sk-0123456789abcdef",
		`\"secret\": \"x\"`, "pass: none", "password: required secret=x", "token=[redacted]]",
		"whsec_0123456789abcdef"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := secret.Redact(text)
		require.Equal(t, clean, secret.Redact(clean), "%q", text)
	})
}
