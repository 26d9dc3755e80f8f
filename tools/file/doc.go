// Package file is the tools with which an agent reads and changes files, and none outside of one directory.
//
// A [Workspace] is that directory. Its tools read, list, search, write, edit, move and delete. A [Staging] is a set of
// changes beside it: the same tools, under the same names, whose effects nobody sees before a person has read
// [Staging.Diff] and the host calls [Staging.Merge]. Both are a [Tree].
//
//	ws, err := file.Open("project", file.Config{})
//	if err != nil {
//		return err
//	}
//	defer ws.Close()
//	staging, err := ws.Stage("") // in a temporary directory
//	if err != nil {
//		return err
//	}
//	defer staging.Cleanup()
//	agent.New(agent.Config{Tools: staging.Tools(), …}) // or ws.Tools(), to change files at once
//	diff, err := staging.Diff(ctx)
//	result, err := staging.Merge(ctx, file.MergeOptions{})
//
// # What holds
//
// Nothing outside of the directory is read or changed, whatever the names are and whoever exchanges directories for
// symbolic links meanwhile: every access goes through an [os.Root], and no check of a path is relied on. Only regular files
// are opened; a pipe or a device never is, so nothing waits for one. Symbolic links are followed for reading while they
// stay inside, and never replaced or written through; the links that searching and listing meet are shown, not followed. A
// hard link can't be told from a file: who can make one inside the directory can show the agent the file it stands for. A
// write doesn't reach that file, because it makes a new one and takes the name.
//
// A write takes effect at once or not at all, keeps the permissions of what it replaces, and by default replaces nothing
// but the version that was read ([WriteOptions]). Writers of one Workspace, merges too, take turns. Of other programs a
// change is noticed up to the moment at which a new version takes a name; between the last look and that moment lie a few
// microseconds, which no portable call closes.
//
// Merging never overwrites what a person did: a file that changed meanwhile gets both changes if they don't touch each
// other, line by line, and else is a [Conflict].
//
// Reads, walks, searches and writes have limits, see [Config]. All errors are of type [*Error] with a class, except those
// of a context; they name files as the model did, never where the workspace lies.
package file
