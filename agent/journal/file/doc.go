// Package file keeps sessions in plain files, one for each.
//
// A [Store] is a [journal.Store] over a directory, for programs on one machine that want their sessions readable with an editor and
// need no database. A session's log is a file of JSON lines, each with a checksum; one line is a record, and the one behind it keeps it.
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
// # What is kept
//
// A change of a session (an append with its head and what it took, a lease, a post) is one write at the end of the log, and stands
// whole or not at all. Before it is acknowledged it is synced, and so is the directory where the file is new: it survives a loss of
// power. [Process] leaves the syncs out. A change that a crash has cut in the middle is cut off when the session is next used, and told to
// [Config].OnRepair. Damage anywhere else is a [*CorruptError], and nothing is skipped: see [Store.Salvage]. A damaged last
// change can't be told from one that was being written.
//
// After a failed sync nobody knows what has reached the disk, and a second sync may well succeed without having written it. So the change
// is taken back, and before the next one the log is verified and written to a new file.
//
// # Several processes
//
// Any number of processes may open one directory. Each call locks its session's file while it lasts, with a lock that the system takes
// away from a dead process; a call that waits for one gives up when its context ends. Leases are lines of the log: they outlive a process, end
// at their time, and their fences stop whoever had them before. The directory must be on a local file system.
//
// # Costs
//
// A change costs four system calls and, where it is to survive a loss of power, a sync. A session in use costs an open file and memory for
// its open matters, the ids ever posted to it and 16 bytes for each 64 KiB of log; [Config].Files bounds how many there are. A
// head is known from a checkpoint beside the log and what follows it there, so that no log is read whole: the checkpoint is a hint that is
// verified against the log, and made anew where it doesn't fit.
//
// # Formats
//
// The first line of a log names the format of the others, which is 1. Later releases read the logs of earlier ones; the log of a
// later one is refused with a [*FormatError], and left alone.
package file
