package file

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// A fullDisk is a directory in memory whose files can't be written while err is set.
type fullDisk struct {
	*memDisk
	err error
}

type fullHandle struct {
	handle
	disk *fullDisk
}

func (d *fullDisk) Open(name string, create bool) (handle, error) {
	h, err := d.memDisk.Open(name, create)
	return &fullHandle{h, d}, err
}

func (h *fullHandle) WriteAt(b []byte, off int64) (int, error) {
	if h.disk.err == nil {
		return h.handle.WriteAt(b, off)
	}
	n, _ := h.handle.WriteAt(b[:len(b)/2], off) // as far as there is room
	return n, &fs.PathError{Op: "write", Path: "s-s.log", Err: h.disk.err}
}

func TestADiskThatIsFullOrReadOnlyIsNamed(t *testing.T) {
	for cause, want := range map[syscall.Errno]error{
		syscall.ENOSPC: ErrFull, syscall.EDQUOT: ErrFull, syscall.EROFS: ErrReadOnly, syscall.EACCES: ErrReadOnly,
	} {
		disk := &fullDisk{memDisk: newMemDisk(1)}
		st := open(disk, Config{OnRepair: func(r Repair) { t.Errorf("repaired: %+v", r) }})
		require.NoError(t, st.Append(t.Context(), one("s", 0)))
		disk.err = cause
		err := st.Append(t.Context(), one("s", 1))
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, journal.ErrUnusable)
		require.True(t, journal.Unclear(err))
		require.Len(t, read(t, st, "s", 0), 1)

		disk.err = nil
		require.NoError(t, st.Append(t.Context(), one("s", 1)))
		require.Len(t, read(t, st, "s", 0), 2)
		require.NoError(t, st.Close())
	}
	require.ErrorIs(t, &CorruptError{}, journal.ErrUnusable)
	require.ErrorIs(t, &FormatError{}, journal.ErrUnusable)
}
