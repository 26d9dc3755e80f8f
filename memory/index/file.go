package index

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// The format of a file: a line of JSON with a [fileHeader], one with a [fileEntry] for each entry,
// and a line with the CRC-32C (Castagnoli) of everything before, in 8 hexadecimal digits.
type fileHeader struct {
	Version int    `json:"pawl_index"`
	Metric  int    `json:"metric"` // 0: the cosine
	Model   string `json:"model"`
}

type fileEntry struct {
	Item   Item   `json:"item"`
	Text   []byte `json:"text"` // the sums
	Whole  []byte `json:"whole"`
	Vector []byte `json:"vector"` // 4 bytes per dimension, little-endian
}

const fileVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(sum uint32) string { return fmt.Sprintf("%08x\n", sum) }

// errVersion means that a file was written by a newer version of this package.
var errVersion = errors.New("index: the file was written by a newer version; use that version, or sync again")

// ErrDamaged means that a file is incomplete or wasn't written by this package. An index is only a
// copy: create it again with [Finder.Sync].
var ErrDamaged = errors.New("index: the file is damaged or isn't an index; remove it and sync again")

// Save writes the index to a file atomically: a reader finds the old or the new content, even after
// a crash. It writes the state of one moment and doesn't block changes. Two concurrent calls for
// one path are safe; the later one wins. Only the owner can read the file.
func (m *Exact) Save(path string) error {
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

// Write writes the index as [Exact.Save] does, to w.
func (m *Exact) Write(w io.Writer) error {
	m.mu.RLock()
	rows, model := slices.Clone(m.rows), m.model
	m.mu.RUnlock()

	sum := crc32.New(castagnoli)
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	lines := json.NewEncoder(out)
	err := lines.Encode(fileHeader{Version: fileVersion, Model: model})
	for _, r := range rows {
		if err != nil {
			break
		}
		e := fileEntry{Item: r.entry.Item, Text: r.entry.Text[:], Whole: r.entry.Whole[:]}
		e.Item.Updated = e.Item.Updated.UTC() // JSON can't represent every time zone
		if e.Vector, err = binary.Append(nil, binary.LittleEndian, r.vector); err == nil {
			err = lines.Encode(e)
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		_, err = io.WriteString(w, checksum(sum.Sum32()))
	}
	if err != nil {
		return fmt.Errorf("index: write: %w", err)
	}
	return nil
}

// Load reads the index that [Exact.Save] wrote. Errors: fs.ErrNotExist if there is none,
// [ErrDamaged], and one for a file of a newer version.
func Load(path string) (*Exact, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("index: load: %w", err)
	}
	return Read(data)
}

// Read reads an index from what [Exact.Write] wrote. What it allocates is in proportion to data.
// Errors: [ErrDamaged], and one for a file of a newer version.
func Read(data []byte) (*Exact, error) {
	m, err := read(data)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, errVersion):
		return nil, err
	}
	return nil, fault.Errorf(fault.Permanent, "%w: %w", ErrDamaged, err)
}

func read(data []byte) (*Exact, error) {
	body := data[:max(0, len(data)-len(checksum(0)))]
	if string(data[len(body):]) != checksum(crc32.Checksum(body, castagnoli)) {
		return nil, errors.New("its checksum is wrong")
	}
	lines := json.NewDecoder(bytes.NewReader(body))
	var head fileHeader
	err := lines.Decode(&head)
	if head.Version > fileVersion {
		return nil,
			fault.Errorf(fault.Permanent, "%w (%d; this program supports %d)", errVersion, head.Version, fileVersion)
	}
	if err != nil || head.Version < 1 || head.Metric != 0 {
		return nil, errors.New("the header is invalid")
	}
	var entries []Entry
	for {
		var f fileEntry
		switch err := lines.Decode(&f); {
		case err == io.EOF:
			return restored(head, entries)
		case err != nil:
			return nil, fmt.Errorf("entry %d: %w", len(entries), err)
		}
		e := Entry{Item: f.Item, Model: head.Model, Vector: make([]float32, len(f.Vector)/4)}
		if copy(e.Text[:], f.Text) < len(e.Text) || copy(e.Whole[:], f.Whole) < len(e.Whole) || len(f.Vector)%4 != 0 {
			return nil, fmt.Errorf("entry %d ends too early", len(entries))
		}
		if _, err := binary.Decode(f.Vector, binary.LittleEndian, e.Vector); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
}

func restored(head fileHeader, entries []Entry) (*Exact, error) {
	m := new(Exact)
	if err := m.Replace(context.Background(), entries); err != nil {
		return nil, err
	}
	if m.Len() < len(entries) {
		return nil, errors.New("an id occurs twice")
	}
	return m, nil
}
