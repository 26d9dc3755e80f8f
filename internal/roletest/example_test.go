package roletest_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/internal/roletest"
)

// The role "greet" is in main_test.go, whose TestMain plays it.
func Example() {
	out, err := roletest.Command(context.Background(), "greet", "Ann", "Bob").Output()
	fmt.Print(string(out))
	fmt.Println(err)
	// Output:
	// Hello, Ann and Bob.
	// <nil>
}
