// Package file keeps sessions in plain files, one for each session.
//
// A [Store] is a [journal.Store] in a directory, for programs on one machine that want to read
// their sessions with an editor and need no database. A session's log is a file of JSON lines, each
// with a checksum; each line is one change of the session.
//
//	store, err := file.Open("/var/lib/pages/sessions")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	lease, err := store.Lease(ctx, "s-1", "worker-1", 30*time.Second)
//	if err != nil {
//		return err // a *journal.HeldError names who has it, and until when
//	}
//	err = store.Append(ctx, journal.Append{Session: "s-1", Fence: lease.Fence, Records: records})
//
// # Durability
//
// A change of a session (an append with its head and the items it took, a lease, a post) is one
// line, written at the end of the log. It is in the log as a whole or not at all. Before it is
// acknowledged it is synced, and so is the directory if the file is new: it survives a loss of
// power. [Process] omits the syncs.
//
// A change that a crash has left incomplete is cut off when the session is next used, and reported
// to [Config].OnRepair. Such a change was never acknowledged. Damage anywhere else is a
// [*CorruptError], and so is a log from whose end acknowledged changes are gone; nothing is
// skipped, see [Store.Salvage]. The two are told apart by the measure: a file beside the log says
// how long that was when its last change was acknowledged. It is written after each change and
// never synced, so a loss of power may leave an older one. A log without a measure is read as it
// is.
//
// After a failed sync it isn't known what has reached the disk, and a second sync may succeed
// without having written it. So the change is taken back, and before the next one the log is
// verified and written to a new file.
//
// # Several processes
//
// Any number of processes may open one directory. Each call locks its session's file while it
// lasts, with a lock that ends with its process; a call that waits for one gives up when its
// context ends. Leases are lines of the log: they outlive a process and end at their time, and
// their fences stop earlier owners. The directory must be on a local file system.
//
// # Costs
//
// A change costs five system calls and, under [Power], a sync. A session in use costs two open
// files, and memory for its head, its inbox, the ids ever posted to it, and 16 bytes for each 64
// KiB of log; [Config].Files bounds how many are kept. Its state is read from a checkpoint beside
// the log and from what follows that in the log, so no log is read whole. A checkpoint is verified
// against the log, and written again if it doesn't match.
//
// # Format
//
// The first line of a log names the format of all its lines, which is 2. A log of another format is
// refused with a [*FormatError], and left as it is.
package file
