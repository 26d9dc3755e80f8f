package crew_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/team/internal/crew"
)

// A new directory gets a module and the skills of the project.
func ExampleOpen() {
	at, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(at)
	p, err := crew.Open(filepath.Join(at, "programs"), filepath.Join(at, "state"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	found, err := filepath.Glob(filepath.Join(p.Dir, ".agents", "skills", "*", "SKILL.md"))
	fmt.Println(len(found), err)
	// Output:
	// 2 <nil>
}
