// Package twice has a test that always fails.
package twice

import "testing"

func TestFails(t *testing.T) { t.Error("again") }
