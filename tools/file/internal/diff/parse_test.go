package diff

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const poem = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"

// one parses a patch of one file, and applies it.
func one(t testing.TB, text, patch, end string) (string, error) {
	t.Helper()
	files, err := Parse(patch, func(name string) bool { return strings.HasSuffix(name, "poem") })
	if err != nil {
		return "", err
	}
	require.Len(t, files, 1)
	out, _, err := Apply([]byte(text), files[0].Hunks, end)
	return string(out), err
}

func TestPatchesAreReadAsTheyAreWritten(t *testing.T) {
	const head = "--- a/poem\n+++ b/poem\n"
	want := strings.Replace(poem, "three\n", "3\n", 1)
	for name, patch := range map[string]string{
		"as it should be": head + "@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n",
		"of git": "diff --git a/poem b/poem\nindex 1..2 100644\n" + head + "@@ -2,3 +2,3 @@ one\n" +
			" two\n-three\n+3\n four\n",
		"without numbers": head + "@@ ... @@\n two\n-three\n+3\n four\n",
		"with nothing":    head + "@@\n-three\n+3\n",
		"without @@":      head + " two\n-three\n+3\n",
		"wrong counts":    head + "@@ -2,90 +2,7 @@\n two\n-three\n+3\n four\n",
		"wrong lines":     head + "@@ -7,3 +7,3 @@\n two\n-three\n+3\n four\n",
		"line 0":          head + "@@ -0,0 +0,0 @@\n two\n-three\n+3\n",
		"huge numbers":    head + "@@ -99999999999999999999,3 +1,3 @@\n two\n-three\n+3\n",
		"as a mail": "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] Three\n\n- It is 3.\n---\n poem | 2 +-\n\n" +
			head + "@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n-- \n2.39.0\n\n" +
			"From 2 Mon Sep 17 00:00:00 2001\n- A list\n",
		"in a fence":        "Here it is:\n```diff\n" + head + "@@ -3 +3 @@\n-three\n+3\n```\nThat is all.\n",
		"with a time":       "--- poem.orig\t2026-01-01 10:00:00\n+++ poem\t2026-01-01\n@@ -3 +3 @@\n-three\n+3\n",
		"in quotes":         "--- \"a/poem\"\n+++ \"b/poem\"\n@@ -3 +3 @@\n-three\n+3\n",
		"CRLF":              strings.ReplaceAll(head+"@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n", "\n", "\r\n"),
		"empty lines after": head + "@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n\n\n",
		"for apply_patch": "*** Begin Patch\n*** Update File: poem\n@@ one\n two\n-three\n+3\n four\n" +
			"*** End of File\n*** End Patch\n",
		"for it, without @@": "*** Begin Patch\n*** Update File: poem\n two\n-three\n+3\n*** End Patch",
		"a hunk for nothing": head + "@@ -1 +1 @@\n one\n@@ -3 +3 @@\n-three\n+3\n",
		"contexts that touch": head + "@@ -1,3 +1,3 @@\n one\n two\n-three\n+3\n four\n@@ -3,3 +3,3 @@\n four\n" +
			"-five\n+5\n six\n",
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			if name == "contexts that touch" {
				want = strings.Replace(want, "five", "5", 1)
			}
			got, err := one(t, poem, patch, "\n")
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestAHunkIsAppliedWhereItMatches(t *testing.T) {
	const head = "--- a/poem\n+++ b/poem\n"
	twice := "a\nx\nb\na\nx\nb\na\nx\nb\n"
	for _, tt := range []struct{ name, text, patch, want, problem string }{
		{"at its line", twice, "@@ -4,3 +4,3 @@\n a\n-x\n+y\n b\n", "a\nx\nb\na\ny\nb\na\nx\nb\n", ""},
		{"moved as the one before", "new\nnew\nfirst\n" + twice,
			"@@ -1 +1 @@\n-first\n+1\n@@ -5,3 +5,3 @@\n a\n-x\n+y\n b\n",
			"new\nnew\n1\na\nx\nb\na\ny\nb\na\nx\nb\n", ""},
		{"at its line, and moved as the one before", "new\nnew\nnew\nfirst\n" + twice,
			"@@ -1 +1 @@\n-first\n+1\n@@ -5,3 +5,3 @@\n a\n-x\n+y\n b\n", "",
			"hunk 2, line 6 of the patch, matches the file in 3 places, at lines 5, 8, 11"},
		{"at its line, the one before moved", "new\nfirst\n" + twice,
			"@@ -1 +1 @@\n-first\n+1\n@@ -6,3 +6,3 @@\n a\n-x\n+y\n b\n",
			"new\n1\na\nx\nb\na\ny\nb\na\nx\nb\n", ""},
		{"what looks like a signature", "- \nx\n", "@@ -1,2 +1,1 @@\n-- \n x\n", "x\n", ""},
		{"the same in a hunk that counts too few", "a\n- \nx\n", "@@ -1 +1 @@\n a\n-- \n x\n", "a\nx\n", ""},
		{"the same at the end", "a\n- \n", "@@ -1 +1 @@\n a\n-- \n", "a\n", ""},
		{"the same at the end of a fence", "a\n- \n", "@@ -1 +1 @@\n a\n-- \n```\n", "a\n", ""},
		{"not clear where", twice, "@@ -3 +3 @@\n-x\n+y\n", "", "matches the file in 3 places, at lines 2, 5, 8"},
		{"without a number", twice, "@@\n-x\n+y\n", "", "matches the file in 3 places"},
		{"another line", poem, "@@ -2,2 +2,2 @@\n one\n-2\n+zwei\n three\n", "",
			`line 2 of the file is "two", where the patch has "2"`},
		{"other spaces", poem, "@@\n-  two\n+2\n", "", "none of its lines is in the file"},
		{"after the end", poem, "@@\n ten\n-eleven\n+11\n", "",
			`the file ends after line 10, where the patch has "eleven"`},
		{"applied already", poem, "@@\n one\n-2\n+two\n three\n", "", "has its new lines already"},
		{"without context", poem, "@@ -2,0 +3 @@\n+new\n", "", "has only added lines"},
		{"one line twice", poem, "@@ -2 +2 @@\n-two\n+2\n@@ -2 +2 @@\n-two\n+zwei\n", "",
			"hunks 1 and 2 change the same lines"},
		{"nothing", poem, "@@ -2 +2 @@\n-two\n+two\n", "", "the patch changes nothing"},
		{"into an empty file", "", "@@ -0,0 +1 @@\n+one\n", "one\n", ""},
		{"what looks like a header", "a\n-- x\nb\n", "@@ -1,3 +1,3 @@\n a\n--- x\n+++ y\n b\n", "a\n++ y\nb\n", ""},
		{"empty context", "a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n", ""},
		{"the last line goes", poem, "@@\n nine\n-ten\n", strings.TrimSuffix(poem, "ten\n"), ""},
		{"at the beginning", poem, "@@\n+zero\n one\n", "zero\n" + poem, ""},
		{"everything goes", "a\n", "@@\n-a\n", "", ""},
		{"hunks out of order", poem, "@@\n-nine\n+9\n@@\n-two\n+2\n",
			strings.NewReplacer("nine", "9", "two", "2").Replace(poem), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := one(t, tt.text, head+tt.patch, "\n")
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestTheLinesOfHunksAreThoseOfTheNewText(t *testing.T) {
	files, err := Parse("--- a/poem\n+++ b/poem\n@@\n nine\n-ten\n+10\n@@\n one\n-two\n-three\n four\n-five\n"+
		"@@\n seven\n+7a\n+7b\n eight\n", nil)
	require.NoError(t, err)
	out, at, err := Apply([]byte(poem), files[0].Hunks, "\n")
	require.NoError(t, err)
	require.Equal(t, "one\nfour\nsix\nseven\n7a\n7b\neight\nnine\n10\n", string(out))
	require.Equal(t, []int{9, 2, 5}, at)
}

func TestLinesThatAreAddedEndAsThoseAround(t *testing.T) {
	const head, none = "--- a/poem\n+++ b/poem\n", "\\ No newline at end of file\n"
	for _, tt := range []struct{ name, text, end, patch, want string }{
		{"CRLF", "a\r\nb\r\n", "\r\n", " a\n-b\n+c\n+d\n", "a\r\nc\r\nd\r\n"},
		{"CR", "a\rb\r", "\r", " a\n-b\n+c\n+d\n", "a\rc\rd\r"},
		{"mixed, one by one", "a\r\nb\nc\r\nd\n", "", "-a\n-b\n-c\n+A\n+B\n+C\n d\n", "A\r\nB\nC\r\nd\n"},
		{"mixed, more", "a\r\nb\nc\r\n", "", " a\n-b\n+B\n+BB\n c\n", "a\r\nB\nBB\nc\r\n"},
		{"mixed, added", "a\r\nb\n", "", " a\n+x\n b\n", "a\r\nx\r\nb\n"},
		{"mixed, in front", "a\r\nb\n", "", "+x\n a\n", "x\r\na\r\nb\n"},
		{"a mark", "\ufeffa\nb\n", "\n", "-\ufeffa\n+A\n b\n", "\ufeffA\nb\n"},
		{"a mark that the patch hasn't", "\ufeffa\nb\n", "\n", "-a\n+A\n", "\ufeffA\nb\n"},
		{"no end, which isn't said", "a\nb", "\n", "-b\n+c\n", "a\nc"},
		{"no end, as it is said", "a\nb", "\n", "-b\n" + none + "+c\n" + none, "a\nc"},
		{"an end comes", "a\nb", "\n", "-b\n" + none + "+c\n", "a\nc\n"},
		{"an end goes", "a\nb\n", "\n", "-b\n+c\n" + none, "a\nc"},
		{"after a line without end", "a\r\nb", "\r\n", " b\n+c\n", "a\r\nb\r\nc"},
		{"elsewhere", "a\nb", "\n", "-a\n+A\n", "A\nb"},
		{"a return stays", "a\rx\nb\n", "", "-b\n+c\n", "a\rx\nc\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := one(t, tt.text, head+"@@\n"+tt.patch, tt.end)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestWhatIsNoChangeOfLinesIsAnError(t *testing.T) {
	for patch, problem := range map[string]string{
		"":                            "the patch has no file",
		"Just text.":                  "the patch has no file",
		"@@ -1 +1 @@\n-a\n+b\n":       "has a change before the lines",
		"--- a/poem\n+++ b/poem\n":    "changes nothing in b/poem",
		"--- a/poem\n+++ /dev/null\n": "deletes a file",
		"*** Begin Patch\n*** Delete File: poem\n": "" +
			"line 2 of the patch deletes a file",
		"*** Update File: poem\n*** Move to: x\n": "moves a file",
		"diff --git a/poem b/x\nsimilarity index 100%\nrename from poem\nrename to x\n": "" +
			"line 3 of the patch moves a file",
		"diff --git a/poem b/poem\nold mode 100644\nnew mode 100755\n":      "changes permissions",
		"diff --git a/poem b/poem\nBinary files a/poem and b/poem differ\n": "changes a binary file",
		"--- a/poem\n+++ b/poem\n@@ -1 +1 @@\n-one\n+1\nThis changes it.\n": `none of a space, + and -: "This`,
	} {
		_, err := one(t, poem, patch, "\n")
		require.ErrorContains(t, err, problem, "%q", patch)
	}
}

// A patch whose author forgot the space before a line that could also be one around the patch
// isn't applied in part.
func TestAPatchIsReadCompletelyOrNotAtAll(t *testing.T) {
	const head = "--- a/poem\n+++ b/poem\n"
	const outside = "has a change outside of a hunk"
	for patch, problem := range map[string]string{
		head + "@@ -1,5 +1,5 @@\n Intro\n-old\n+new\n```go\n-x := 1\n+x := 2\n```\n": "" +
			"line 7 of the patch begins with none of a space, + and -: \"```go\"",
		head + "@@ -1,2 +1,2 @@\n Intro\n-old\n+new\n```go\n-x := 1\n+x := 2\n```\n": "" +
			`line 8 of the patch has a change outside of a hunk: "-x := 1"; each unchanged line of a hunk begins ` +
			"with a space",
		head + "@@\n x := 1\n-y\n```\n\nText\n+more\n":                               outside,
		head + "@@\n-a\n*** a title\n+b\n":                                           outside,
		head + "@@\n-a\ndiff the two\n-b\n":                                          outside,
		head + "@@\n-a\nIndex: 1\n+b\n":                                              outside,
		head + "@@\n-a\n```\n*** End Patch\n+b\n":                                    outside,
		head + "@@\n-a\n```\n x\n@@ -9 +9 @@\n-b\n":                                  "has a change before the lines",
		"*** Begin Patch\n*** Update File: poem\n@@\n-a\n*** End\n-b\n*** End Patch": outside,
	} {
		_, err := one(t, poem, patch, "\n")
		require.ErrorContains(t, err, problem, "%q", patch)
	}
	for _, patch := range []string{
		"- Changes one:\n```diff\n" + head + "@@ -1,9 +1,9 @@\n-one\n+1\n```\nThat is all.\n",
		"*** Begin Patch\n*** Update File: poem\n@@\n-one\n+1\n*** End Patch\n- It changes one.\n",
	} {
		got, err := one(t, poem, patch, "\n")
		require.NoError(t, err, "%q", patch)
		require.Equal(t, strings.Replace(poem, "one", "1", 1), got)
	}
	files, err := Parse("diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n"+
		"diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+c\n",
		func(string) bool { return false })
	require.NoError(t, err)
	require.Len(t, files, 2)
}

// What Unified shows can be applied.
func FuzzApply(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc"))
	f.Add([]byte("a\r\nb"), []byte("a\r\n-- b\r\n"))
	f.Add([]byte(""), []byte("\n\n\n"))
	f.Add([]byte("--- a\n+++ b\n@@\n"), []byte("--- c\n+++ b\n"))
	f.Fuzz(func(t *testing.T, old, now []byte) {
		for _, data := range [][]byte{old, now} {
			if Binary(data) || !utf8.Valid(data) || strings.ContainsAny(string(data), "\r\ufffd\ufeff") {
				t.Skip()
			}
		}
		text := Unified("a/poem", "b/poem", old, now)
		if text == "" {
			return
		}
		got, err := one(t, string(old), text, "\n")
		require.NoError(t, err, text)
		require.Equal(t, string(now), got, text)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("--- a/poem\n+++ b/poem\n@@ -1 +1 @@\n-one\n+1\n", "one\r\ntwo")
	f.Add("*** Update File: poem\n@@\n\n\\\n+\n", "\n\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		files, err := Parse(patch, func(name string) bool { return name == "poem" })
		if err != nil {
			return
		}
		for _, f := range files {
			_, _, _ = Apply([]byte(text), f.Hunks, "")
		}
	})
}

func TestTheCostOfAPatchIsBounded(t *testing.T) {
	same := strings.Repeat("x\n", 150_000)
	_, err := one(t, same, "--- a/poem\n+++ b/poem\n@@\n x\n-x\n", "\n")
	require.ErrorContains(t, err, "has only lines that the file has very often")
	got, err := one(t, same, "--- a/poem\n+++ b/poem\n@@ -100000,2 +100000,1 @@\n x\n-x\n", "\n")
	require.NoError(t, err)
	require.Len(t, got, len(same)-2)
	_, err = one(t, poem, "--- a/poem\n+++ b/poem\n"+strings.Repeat("@@\n-one\n+1\n", 1001), "\n")
	require.ErrorContains(t, err, "more than 1000 changes")
}
