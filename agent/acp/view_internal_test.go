package acp

import (
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"
)

// TestAPreviewIsShownHunkByHunk has the forms that tools/file gives.
func TestAPreviewIsShownHunkByHunk(t *testing.T) {
	change := func(old *string, now string) sdk.ToolCallContent {
		return sdk.ToolCallContent{Diff: &sdk.ToolCallContentDiff{Path: "/a", OldText: old, NewText: now, Type: "diff"}}
	}
	text := func(s string) sdk.ToolCallContent { return sdk.ToolContent(sdk.TextBlock(s)) }
	head := "--- a/a\n+++ b/a\n"
	for name, c := range map[string]struct {
		diff string
		want []sdk.ToolCallContent
	}{
		"two hunks": {head + "@@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -9 +9,2 @@\n d\n+e\n",
			[]sdk.ToolCallContent{change(sdk.Ptr("a\nc\n"), "b\nc\n"), change(sdk.Ptr("d\n"), "d\ne\n")}},
		"lines that look like a head": {head + "@@ -1,2 +1,2 @@\n--- x\n+++ y\n @@ z\n",
			[]sdk.ToolCallContent{change(sdk.Ptr("-- x\n@@ z\n"), "++ y\n@@ z\n")}},
		"a new file": {"--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n", []sdk.ToolCallContent{change(nil, "b\n")}},
		"a file that goes": {"--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\\ No newline at end of file\n",
			[]sdk.ToolCallContent{change(sdk.Ptr("b\n"), "")}},
		"cut": {head + "@@ -1,9 +1,9 @@\n-a\n\\ The preview is cut here: 9 more bytes aren't shown.\n",
			[]sdk.ToolCallContent{change(sdk.Ptr("a\n"), ""), text("The preview is cut here: 9 more bytes aren't shown.")}},
		"too large a file before": {"a, 9 bytes is replaced by:\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n",
			[]sdk.ToolCallContent{change(nil, "b\n"), text("a, 9 bytes is replaced by:")}},
		"a move": {"rename from a\nrename to b\n", []sdk.ToolCallContent{text("rename from a\nrename to b\n")}},
		"binary": {head + "Binary content: version 1, then 2\n",
			[]sdk.ToolCallContent{text(head + "Binary content: version 1, then 2\n")}},
	} {
		require.Equal(t, c.want, hunks("/a", c.diff), name)
	}
}

func FuzzHunks(f *testing.F) {
	f.Add("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n")
	f.Add("@@ \n\n-")
	f.Fuzz(func(t *testing.T, diff string) {
		for _, c := range hunks("/a", diff) {
			if c.Diff != nil {
				require.LessOrEqual(t, strings.Count(c.Diff.NewText, "\n"), strings.Count(diff, "\n"))
			}
		}
	})
}
