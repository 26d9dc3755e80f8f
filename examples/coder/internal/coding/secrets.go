package coding

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// hidden are patterns of files with secrets.
var hidden = []string{".env", ".env.*", "*.pem", "*.key", "id_rsa", "id_ed25519", ".netrc", ".ssh"}

func isHidden(name string) bool {
	return slices.ContainsFunc(hidden, func(pattern string) bool {
		ok, _ := path.Match(pattern, strings.ToLower(name))
		return ok
	})
}

const (
	mostLooked    = 20_000   // files and folders in which secrets are looked for
	mostSecret    = 64 << 10 // bytes of a file
	leastOfSecret = 6        // bytes of what is taken for one
)

// secrets returns what replaces the lines and values of files with secrets in the output of
// programs: git shows what changes in them, and a compiler what it doesn't understand.
func (c *Coder) secrets() *strings.Replacer {
	var pairs []string
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return strings.NewReplacer()
	}
	defer root.Close()
	looked := 0
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch looked++; {
		case looked > mostLooked:
			return fs.SkipAll
		case err != nil:
			return nil
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "vendor"}, d.Name()):
			return fs.SkipDir
		case !slices.ContainsFunc(strings.Split(name, "/"), isHidden):
			return nil
		}
		for line := range strings.Lines(head(root, name, mostSecret)) {
			line = strings.TrimSpace(line)
			if _, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
				line = strings.Trim(value, ` "'`)
			}
			if len(line) >= leastOfSecret && !strings.HasPrefix(line, "-----") {
				pairs = append(pairs, line, "[hidden]")
			}
		}
		return nil
	})
	return strings.NewReplacer(pairs...)
}

// hiding is a hook that keeps secrets out of what programs print.
func (c *Coder) hiding() agent.Hooks {
	after := func(_ context.Context, call *agent.ToolCall, r *agent.ToolResult) error {
		if commands[call.Name] != nil {
			found := c.secrets()
			for i := range r.Parts {
				r.Parts[i].Text = found.Replace(r.Parts[i].Text)
			}
		}
		return nil
	}
	return agent.Hooks{Name: "secrets", AfterTool: after}
}
