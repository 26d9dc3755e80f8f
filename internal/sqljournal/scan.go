package sqljournal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// ErrStop makes [Database].Query end early, without an error.
var ErrStop = errors.New("sqljournal: enough rows")

// Each calls each for every row until that returns [ErrStop] or another error, and closes rows.
func Each(rows Rows, each func(scan func(dest ...any) error) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// These types scan a column without reflection, which takes most of the time for a row of small
// columns.
type (
	number  int64
	instant time.Time
	blob    []byte
)

// Scan takes an integer.
func (n *number) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("%T instead of an integer", src)
	}
	*n = number(v)
	return nil
}

// Scan takes nanoseconds since 1970, or NULL.
func (t *instant) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = instant{}
	case int64:
		*t = instant(time.Unix(0, v).UTC())
	default:
		return fmt.Errorf("%T instead of a time", src)
	}
	return nil
}

// Scan takes bytes.
func (b *blob) Scan(src any) error {
	switch v := src.(type) {
	case []byte:
		*b = bytes.Clone(v)
	case nil:
		*b = nil
	default:
		return fmt.Errorf("%T instead of bytes", src)
	}
	return nil
}

// Nanos returns a time as it is stored: nanoseconds since 1970, or nil for the zero time.
func Nanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixNano()
	return &n
}

// Blob returns data as they are stored: never NULL.
func Blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// DataSize returns the size of the records' data in bytes.
func DataSize(records []journal.Record) int {
	n := 0
	for i := range records {
		n += len(records[i].Data)
	}
	return n
}

// An open is a [journal.Open] as it is stored.
type open struct {
	ID      string `json:"id"`
	Kind    string `json:"kind,omitempty"`
	Title   string `json:"title,omitempty"`
	What    string `json:"what,omitempty"`
	For     string `json:"for,omitempty"`
	Expires *int64 `json:"expires,omitempty"` // as Nanos returns it
}

// EncodeOpen returns the open list of a head as it is stored: a JSON array.
func EncodeOpen(list []journal.Open) (string, error) {
	if len(list) == 0 {
		return "[]", nil
	}
	out := make([]open, len(list))
	for i, o := range list {
		out[i] = open{ID: o.ID, Kind: o.Kind, Title: o.Title, What: o.What, For: o.For, Expires: Nanos(o.Expires)}
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// decodeOpen decodes the output of EncodeOpen.
func decodeOpen(text string) ([]journal.Open, error) {
	if text == "[]" {
		return nil, nil
	}
	var list []open
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("the open list is damaged: %w", err)
	}
	out := make([]journal.Open, len(list))
	for i, o := range list {
		out[i] = journal.Open{ID: o.ID, Kind: o.Kind, Title: o.Title, What: o.What, For: o.For}
		if o.Expires != nil {
			out[i].Expires = time.Unix(0, *o.Expires).UTC()
		}
	}
	return out, nil
}

// EncodeLabels returns the labels of a head as they are stored: a JSON object.
func EncodeLabels(labels map[string]string) (string, error) {
	if len(labels) == 0 {
		return "{}", nil
	}
	text, err := json.Marshal(labels)
	return string(text), err
}

// decodeLabels reads what EncodeLabels returned.
func decodeLabels(text string) (labels map[string]string, err error) {
	if text == "{}" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &labels); err != nil {
		return nil, fmt.Errorf("the labels are damaged: %w", err)
	}
	return labels, nil
}
