package coding_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider/providertest"
)

// An edit waits for a person, who is shown the diff.
func Example() {
	at, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(at)
	dir := filepath.Join(at, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		fmt.Println(err)
		return
	}
	c, err := coding.Open(coding.Config{Dir: dir, DB: filepath.Join(at, "runs.db"), Model: providertest.Script(
		providertest.Call("file.write", map[string]any{"path": "NOTES.md", "content": "Hello.\n"}))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	code, err := terminal.Run(context.Background(), c.Hub, terminal.Config{Session: "s-1", Prompt: "Write a note.",
		In: strings.NewReader(""), Out: io.Discard})
	fmt.Println(code, err)
	pending, err := c.Hub.Agent().Session("s-1").Pending(context.Background())
	fmt.Print(pending[0].Title, " ", err, "\n", pending[0].Preview)
	fmt.Println(c.Hub.Agent().Session("s-1").Decide(context.Background(), agent.Approve(pending[0].ID)))
	// Output:
	// 3 <nil>
	// Write “NOTES.md” <nil>
	// --- /dev/null
	// +++ b/NOTES.md
	// @@ -0,0 +1 @@
	// +Hello.
	// <nil>
}
