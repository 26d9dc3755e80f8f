// Pictures draws the pictures of docs/how-it-works.md from the code: the stages of a run and the
// facts between them from the table in the comment of package agent/machine, and the path of a
// model call from what provider/guard does, function by function.
//
//	go run ./internal/rules/pictures
//
// Its test fails if a picture isn't what the program draws. run.go and path.go have a picture each,
// svg.go what they are drawn with, and code.go what is read from the sources.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write draws all pictures of the repository at root.
func write(root string) error {
	for name, draw := range pictures {
		svg, err := draw(root)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, "docs", name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pictures are the files in docs.
var pictures = map[string]func(root string) (string, error){
	"run.svg":       drawRun,
	"call-path.svg": drawPath,
}
