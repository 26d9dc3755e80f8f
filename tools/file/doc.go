// Package file has tools that read and change files inside one directory.
//
// A [Workspace] is that directory. Its tools read, list, search, write, edit, move and delete; with
// [Config].Patch, another one takes a unified diff of several files. A [Staging] is a set of
// pending changes to it: it has the same tools under the same names, but their effects stay outside
// of the workspace until a person has read [Staging.Diff] and the host calls [Staging.Merge]. Both
// implement [Tree].
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
//	result, err := staging.Merge(ctx)
//
// # Guarantees
//
// Nothing outside of the directory is read or changed, whatever the names are, even if another
// process replaces directories by symbolic links meanwhile: every access goes through an [os.Root]
// and doesn't rely on checks of paths. Only regular files are opened; pipes and devices never are,
// so no call blocks on one. Symbolic links are followed for reading while they stay inside, and
// never replaced or written through; searching and listing show links and don't follow them. A hard
// link can't be distinguished from a file: a user who can create one inside the directory can show
// the agent the file behind it. A write doesn't change that file, because it creates a new file
// under the name.
//
// What [Config].Hide and Protect name isn't read or changed either, even if a directory or a file
// is replaced by a link to it meanwhile: links are resolved first, and then each directory is
// opened by itself, and must have its name while it is open. A hidden file that is moved to another
// name isn't hidden any more. On systems other than Linux, a move that fails because one of its
// directories was replaced at that moment may leave the file a second, random name in the directory
// that replaced it.
//
// The name of a file that is changed contains neither symbolic links nor "..", so that what a
// person approves is the file that is changed; other names are errors, which say the right one.
//
// A patch is applied completely or not at all: if a file can't be written, those before it get
// their content back, unless somebody has changed them in between. Other readers may see some of
// its files changed and others not yet. If the process ends in the middle, undo restores all.
//
// A write takes effect at once or not at all, keeps the permissions of the file that it replaces,
// and by default replaces only the version that was read ([WriteOptions]): of several writers that
// have read one version, one succeeds, and the others get an error even if they write the same
// content. Writes and merges are serialized, also those of several Workspaces over the directory
// and of several processes, by a lock of the directory (flock; on Windows an open file
// .pawl-tmp-lock in it; none on other systems, on file systems without locks, and between computers
// that share a directory). A change by a program that doesn't use this package is noticed until
// shortly before the new version is renamed into place; between the last check and the rename there
// are a few microseconds that no portable call can close.
//
// The tools that change a text keep its form: the byte order mark, the line ends where all lines of
// the file end in the same way, and whether its last line has one. Where lines end differently,
// everything outside of what is replaced stays byte for byte, and new text is written as it is
// given. The methods of a Tree write the bytes that they get.
//
// Merging never overwrites a person's changes: if a file has changed in the meantime, the merge
// combines both changes line by line if they don't overlap; otherwise it reports a [Conflict].
//
// With [Config].History, what the tools have written, edited and deleted is undone with the run
// (Session.Undo of package agent), except where somebody has changed the file since. A move is
// always undone.
//
// Reads, walks, searches and writes have limits, see [Config]. All errors are of type [*Error] with
// a class, except those of a context. They use the names that the model used, and never reveal the
// path of the workspace.
package file
