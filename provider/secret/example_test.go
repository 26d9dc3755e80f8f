package secret_test

import (
	"fmt"

	"github.com/pawlkit/pawl/provider/secret"
)

func ExampleRedact() {
	fmt.Println(secret.Redact("DB_PASS=hunter2 psql -h db; password: required"))
	// Output: DB_PASS=[redacted] psql -h db; password: required
}

func ExampleValues() {
	sent := secret.NewValues("Bearer 0123-4567-89ab", "key with spaces")
	fmt.Println(sent.Text("401: the key 0123-4567-89ab is unknown; see /login?key=key+with+spaces"))
	// Output: 401: the key [redacted] is unknown; see /login?key=[redacted]
}
