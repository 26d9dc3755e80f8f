package file

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

var (
	errInjected = errors.New("injected: no space left on device")
	errDead     = errors.New("injected: the process is dead")
)

// pageSize is small, so that a change of some hundred bytes can reach the disk in part in many
// ways.
const pageSize = 64

// A memDisk is a directory in memory that knows what has reached the disk. Any of its operations
// can be made to fail, or to be the last one of the process.
type memDisk struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	names map[string]*inode
	disk  map[string]*inode // what names would be there after a loss of power, and what of moves
	moves []func(map[string]*inode)

	ops    int // so far
	failAt int // this operation fails, and those after it as long as fails lasts
	fails  int // how many are left to fail from then on
	dieAt  int // this operation is the last, and done in part
	dead   bool
	open   int // handles
}

type inode struct {
	data  []byte // as processes see it
	disk  []byte // as it is after a loss of power, but for what of dirty was written
	dirty map[int64]bool
	links int
	owner *memHandle // of the lock
}

func newMemDisk(seed uint64) *memDisk {
	return &memDisk{rnd: rand.New(rand.NewPCG(seed, 1)), names: map[string]*inode{}, disk: map[string]*inode{}}
}

// step counts an operation, and returns its error if it has to fail. If part is set, it is still
// done in part.
func (d *memDisk) step(string) (part bool, err error) {
	if d.dead {
		return false, errDead
	}
	d.ops++
	if d.ops == d.dieAt {
		d.dead = true
		return true, errDead
	}
	if d.failAt > 0 && d.ops >= d.failAt && d.fails > 0 {
		d.fails--
		return d.rnd.IntN(2) == 0, errInjected
	}
	return false, nil
}

func (d *memDisk) Open(name string, create bool) (handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("open " + name); err != nil {
		return nil, err
	}
	f := d.names[name]
	if f == nil {
		if !create {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		f = &inode{dirty: map[int64]bool{}}
		d.name(name, f)
	}
	d.open++
	return &memHandle{disk: d, inode: f}, nil
}

// name gives f a name in memory now, and on the disk with the next sync.
func (d *memDisk) name(name string, f *inode) {
	if old := d.names[name]; old != nil {
		old.links--
	}
	if f != nil {
		f.links++
		d.names[name] = f
	} else {
		delete(d.names, name)
	}
	d.moves = append(d.moves, func(m map[string]*inode) {
		if f == nil {
			delete(m, name)
		} else {
			m[name] = f
		}
	})
}

func (d *memDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	part, err := d.step("rename " + from)
	if err != nil && !part {
		return err
	}
	f := d.names[from]
	if f == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	d.name(to, f)
	f.links--
	delete(d.names, from)
	last := d.moves[len(d.moves)-1]
	d.moves[len(d.moves)-1] = func(m map[string]*inode) { last(m); delete(m, from) }
	return err
}

func (d *memDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	part, err := d.step("remove " + name)
	if err != nil && !part {
		return err
	}
	if d.names[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	d.name(name, nil)
	return err
}

func (d *memDisk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("list"); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(d.names)), nil
}

func (d *memDisk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("sync the directory"); err != nil {
		return err
	}
	for _, move := range d.moves {
		move(d.disk)
	}
	d.moves = nil
	return nil
}

// die ends the process, and all its locks.
func (d *memDisk) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.names {
		f.owner = nil
	}
	d.dead, d.dieAt, d.failAt, d.fails = false, 0, 0, 0
}

// cut simulates a loss of power. Keep is the probability that a page or a size that wasn't synced
// has reached the disk. Of the changes to the directory the first few have.
func (d *memDisk) cut(keep float64) {
	d.die()
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.moves) && d.rnd.Float64() < keep {
		d.moves[n](d.disk)
		n++
	}
	d.moves = nil
	d.names = maps.Clone(d.disk)
	for _, f := range d.names {
		f.links = 1
		f.reach(d.rnd, keep)
		f.data = slices.Clone(f.disk)
		f.dirty = map[int64]bool{}
	}
}

// reach writes some of the dirty pages to the disk.
func (f *inode) reach(rnd *rand.Rand, keep float64) {
	if len(f.data) != len(f.disk) && rnd.Float64() < keep {
		f.disk = resized(f.disk, int64(len(f.data)))
	}
	for page := range f.dirty {
		if rnd.Float64() < keep {
			f.writePage(page)
		}
	}
}

func (f *inode) writePage(page int64) {
	from := page * pageSize
	to := min(from+pageSize, int64(len(f.data)), int64(len(f.disk)))
	if from < to {
		copy(f.disk[from:to], f.data[from:to])
	}
}

func resized(b []byte, size int64) []byte {
	if int64(len(b)) >= size {
		return b[:size:size]
	}
	return append(b[:len(b):len(b)], make([]byte, size-int64(len(b)))...)
}

type memHandle struct {
	disk *memDisk
	*inode
	closed bool
}

func (h *memHandle) step(what string) (part bool, err error) {
	if h.closed {
		return false, fs.ErrClosed
	}
	return h.disk.step(what)
}

func (h *memHandle) ReadAt(b []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if _, err := h.step("read"); err != nil {
		return 0, err
	}
	if off >= int64(len(h.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memHandle) WriteAt(b []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	part, err := h.step("write")
	if err != nil && !part {
		return 0, err
	}
	if err != nil {
		b = b[:h.disk.rnd.IntN(len(b)+1)]
	}
	end := off + int64(len(b))
	h.data = resized(h.data, max(end, int64(len(h.data))))
	copy(h.data[off:], b)
	h.markDirty(off, end)
	return len(b), err
}

// markDirty marks the pages between two offsets as not yet on the disk.
func (h *memHandle) markDirty(from, to int64) {
	for page := from / pageSize; page*pageSize < to; page++ {
		h.dirty[page] = true
	}
}

func (h *memHandle) Truncate(size int64) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if _, err := h.step("truncate"); err != nil {
		return err
	}
	if size < int64(len(h.data)) {
		h.markDirty(size, size+1)
		for page := range h.dirty {
			if page*pageSize > size {
				delete(h.dirty, page)
			}
		}
	}
	h.data = resized(h.data, size)
	return nil
}

// A Sync that fails behaves like Linux: some pages have reached the disk, and all count as clean
// afterwards.
func (h *memHandle) Sync() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	_, err := h.step("sync")
	if err != nil && err != errInjected {
		return err
	}
	keep := 1.0
	if err != nil {
		keep = 0.5
	}
	h.reach(h.disk.rnd, keep)
	h.dirty = map[int64]bool{}
	return err
}

func (h *memHandle) Stat() (int64, bool, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if _, err := h.step("stat"); err != nil {
		return 0, false, err
	}
	return int64(len(h.data)), h.links > 0, nil
}

func (h *memHandle) TryLock() (bool, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if _, err := h.step("lock"); err != nil {
		return false, err
	}
	if h.owner != nil && h.owner != h {
		return false, nil
	}
	h.owner = h
	return true, nil
}

func (h *memHandle) Unlock() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed {
		return fs.ErrClosed
	}
	if h.disk.dead {
		return errDead
	}
	if h.owner == h {
		h.owner = nil
	}
	return nil
}

func (h *memHandle) Close() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed {
		return fs.ErrClosed
	}
	h.closed = true
	h.disk.open--
	if h.owner == h {
		h.owner = nil
	}
	return nil
}
