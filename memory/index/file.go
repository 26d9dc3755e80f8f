package index

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/circuit/fault"
)

// The format of a file, with little-endian numbers: the eight bytes of magic, a version and a metric (4 bytes each), the model (a
// length of 4 bytes and its bytes), the dimensions (4) and the number of entries (8); for each entry both sums, the item as
// JSON (length and bytes) and the vector (4 bytes per dimension); at the end a CRC-32C (Castagnoli) of everything before.
const (
	magic       = "PAWLIDX\n"
	fileVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrVersion means that a file was written by a newer version of this package.
var ErrVersion = errors.New("index: the file was written by a newer version; use that version, or sync again")

// ErrDamaged means that a file is incomplete or wasn't written by this package. An index is only a copy: create it again with [Finder.Sync].
var ErrDamaged = errors.New("index: the file is damaged or isn't an index; remove it and sync again")

// Save writes the index to a file atomically: a reader finds the old or the new content, even after a crash. It
// writes the state of one moment and doesn't block changes. Two concurrent calls for one path are safe; the later one wins. Only the
// owner can read the file.
func (m *Memory) Save(path string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("index: save: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already if all went well
	err = m.Write(temp)
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("index: save: %w", err)
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // make the rename durable, if directories can be synced
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// Write writes the index as [Memory.Save] does, to w.
func (m *Memory) Write(w io.Writer) error {
	m.mu.RLock()
	rows := make([]*row, len(m.rows))
	copy(rows, m.rows)
	model, size := m.model, m.size
	m.mu.RUnlock()

	sum := crc32.New(castagnoli)
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	var buf []byte
	buf = append(buf, magic...)
	buf = binary.LittleEndian.AppendUint32(buf, fileVersion)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(m.Metric))
	buf = appendBytes(buf, []byte(model))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(size))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(len(rows)))
	for _, r := range rows {
		whole := r.entry.Item
		whole.Updated = whole.Updated.UTC() // JSON can't represent every time zone
		item, err := json.Marshal(whole)
		if err != nil {
			return fmt.Errorf("index: write: the item %q: %w", whole.ID, err)
		}
		buf = append(buf, r.entry.Text[:]...)
		buf = append(buf, r.entry.Whole[:]...)
		buf = appendBytes(buf, item)
		for _, x := range r.vector {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		if _, err := out.Write(buf); err != nil {
			return fmt.Errorf("index: write: %w", err)
		}
		buf = buf[:0]
	}
	_, err := out.Write(buf) // the header, if there are no entries
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		_, err = w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	}
	if err != nil {
		return fmt.Errorf("index: write: %w", err)
	}
	return nil
}

func appendBytes(buf, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(buf, uint32(len(data))), data...)
}

// Load reads the index that [Memory.Save] wrote. Errors: fs.ErrNotExist if there is none, [ErrVersion], [ErrDamaged].
func Load(path string) (*Memory, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("index: load: %w", err)
	}
	return Read(data)
}

// Read reads an index from what [Memory.Write] wrote. Errors: [ErrVersion], [ErrDamaged].
func Read(data []byte) (*Memory, error) {
	r := reader{data: data}
	if string(r.take(len(magic))) != magic {
		return nil, fault.Errorf(fault.Permanent, "%w: the header is wrong", ErrDamaged)
	}
	version := r.u32()
	if version > fileVersion {
		return nil, fault.Errorf(fault.Permanent, "%w (%d; this program supports %d)", ErrVersion, version, fileVersion)
	}
	if len(r.data) < crc32.Size || version == 0 {
		return nil, fault.Errorf(fault.Permanent, "%w: it ends within the header", ErrDamaged)
	}
	body := data[:len(data)-crc32.Size]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, fault.Errorf(fault.Permanent, "%w: its checksum is wrong", ErrDamaged)
	}
	r.data = r.data[:len(r.data)-crc32.Size]
	m, err := r.memory()
	if err != nil {
		return nil, fault.Errorf(fault.Permanent, "%w: %w", ErrDamaged, err)
	}
	return m, nil
}

// A reader decodes a file. After an error, all its results are empty.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.short, r.data = true, nil
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) bytes() []byte { return r.take(int(r.u32())) }

// memory decodes the file after the version.
func (r *reader) memory() (*Memory, error) {
	metric := Metric(min(r.u32(), 255))
	model, size := string(r.bytes()), int(r.u32())
	var count uint64
	if b := r.take(8); b != nil {
		count = binary.LittleEndian.Uint64(b)
	}
	least := uint64(2*len(Sum{}) + 4 + 4*size)
	if r.short || metric > Dot || count > uint64(len(r.data))/least {
		return nil, errors.New("the header is invalid")
	}
	m := &Memory{Metric: metric, model: model, size: size, rows: make([]*row, 0, count),
		byID: make(map[string]int, count), byKey: make(map[string][]*row, count)}
	for range count {
		e := Entry{Model: model, Vector: make([]float32, size)}
		copy(e.Text[:], r.take(len(e.Text)))
		copy(e.Whole[:], r.take(len(e.Whole)))
		item := r.bytes()
		vector := r.take(4 * size)
		if r.short {
			return nil, errors.New("it ends within an entry")
		}
		if err := json.Unmarshal(item, &e.Item); err != nil {
			return nil, fmt.Errorf("an item: %w", err)
		}
		for i := range e.Vector {
			e.Vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(vector[4*i:]))
		}
		row, err := m.newRow(e)
		if err != nil {
			return nil, err
		}
		if _, twice := m.byID[e.Item.ID]; twice {
			return nil, fmt.Errorf("the id %q occurs twice", e.Item.ID)
		}
		m.put(row)
	}
	if len(r.data) > 0 {
		return nil, errors.New("something follows the last entry")
	}
	return m, nil
}
