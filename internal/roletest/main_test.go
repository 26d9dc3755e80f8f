package roletest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{
	"greet": func(args []string) error { fmt.Println("Hello, " + strings.Join(args, " and ") + "."); return nil },
	"fail":  func([]string) error { return errors.New("it failed") },
	"count": func([]string) error {
		var lines strings.Builder
		for n := range 200 {
			fmt.Fprintln(&lines, n+1)
		}
		fmt.Print(lines.String() + "torn") // at once
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	},
	"meet": func(args []string) error {
		roletest.Ready()
		_, err := os.Stat(args[0])
		fmt.Println(len(args))
		return err
	},
	"write": write,
	"look":  func(args []string) error { _, err := os.ReadFile(args[0]); return err },
}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// write fills a file until it may not grow any more, and then again when it may.
func write(args []string) error {
	f, err := os.Create(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	widen, err := roletest.Narrow(10_000)
	if err != nil {
		return err
	}
	for n := 0; err == nil && n < 10; n++ { // no more than that, should nothing stop it
		_, err = f.Write(make([]byte, 4096))
	}
	info, statErr := f.Stat()
	if statErr != nil {
		return statErr
	}
	fmt.Println(info.Size())
	if err := widen(); err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 20_000))
	return err
}
