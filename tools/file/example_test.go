package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// project makes a directory with one file.
func project() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "example-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte("Hello,\nworld.\n"), 0o644)
	}
	if err != nil {
		fmt.Println(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

// What a model reads after valid and invalid calls.
func Example() {
	dir, remove := project()
	defer remove()
	ws, err := file.Open(dir, file.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ws.Close()
	reg, err := tools.NewRegistry(ws.Tools()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range []tools.Call{
		{Name: "file.read", Input: json.RawMessage(`{"path":"greeting.txt","numbers":true}`)},
		{Name: "file.read", Input: json.RawMessage(`{"path":"greetings.txt"}`)},
		{Name: "file.read", Input: json.RawMessage(`{"path":"../../etc/passwd"}`)},
		{Name: "file.write", Input: json.RawMessage(`{"path":"greeting.txt","content":"Bye."}`)},
		{Name: "file.edit", Input: json.RawMessage(`{"path":"greeting.txt","old":"world","new":"Oslo"}`)},
		{Name: "file.search", Input: json.RawMessage(`{"pattern":"^[A-Z]","regexp":true}`)},
	} {
		out := reg.Run(context.Background(), c, tools.Options{})
		fmt.Println(out.Text())
	}
	// Output:
	// greeting.txt: lines 1-2 of 2, version 985e8a0583c5c8ee
	// 1	Hello,
	// 2	world.
	//
	// file: greetings.txt: no such file or directory; did you mean greeting.txt?
	// file: ../../etc/passwd: the name leads out of the workspace; names are relative to it, such as src/main.go
	// file: greeting.txt: it exists; read it, and give the version that you read to replace it
	// greeting.txt: replaced at line 2, 13 bytes, version 0668978da42623af
	// greeting.txt:1: Hello,
	// greeting.txt:2: Oslo.
	// [2 matches in 1 file searched]
}

// An agent works on a copy. A person changes the same file in the meantime, reads the diff, and
// keeps both changes.
func ExampleStaging() {
	dir, remove := project()
	defer remove()
	ws, err := file.Open(dir, file.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ws.Close()
	staging, err := ws.Stage("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer staging.Cleanup()

	ctx := context.Background()
	c, err := staging.Read(ctx, "greeting.txt") // the tools of staging.Tools() do the same
	if err == nil {
		_, err = staging.Write(ctx, c.Name, append(c.Data, "\nYours\n"...), file.WriteOptions{Version: c.Version})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte("Good morning,\nworld.\n"), 0o644)

	diff, err := staging.Diff(ctx)
	fmt.Print(diff, err, "\n")
	res, err := staging.Merge(ctx)
	fmt.Printf("%+v %d %v\n", res.Applied, len(res.Conflicts), err)
	text, _ := os.ReadFile(filepath.Join(dir, "greeting.txt"))
	fmt.Printf("%q\n", text)
	// Output:
	// --- a/greeting.txt
	// +++ b/greeting.txt
	// @@ -1,2 +1,4 @@
	//  Good morning,
	//  world.
	// +
	// +Yours
	// <nil>
	// [{Name:greeting.txt Action:replace Merged:true}] 0 <nil>
	// "Good morning,\nworld.\n\nYours\n"
}
