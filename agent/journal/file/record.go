package file

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
)

// format is the version of the lines below. The first line of a log names it.
const format = 2

// A change is one line of a log, a JSON object. It changes the session as a whole or, if the line
// is damaged, not at all. One of State, Append, Lease, Release and Post is set:
//
//	{"crc":"89abcdef","log":2,"id":"…","session":"s-1","n":1,"at":"…","lease":{"fence":3,"owner":"w","until":"…"}}
//	{"crc":"89abcdef","n":2,"at":"…","append":{"after":0,"fence":3,"records":[{"kind":"reply","v":1,
//	"data":{}}],"taken":["a"]}}
//	{"crc":"89abcdef","n":3,"at":"…","post":{"id":"b","kind":"decision","data":{}}}
//	{"crc":"89abcdef","n":4,"at":"…","release":true}
//
// The checksum is CRC-32C over the bytes that follow it, from "log" or "n" to the closing brace.
type change struct {
	Format  uint64 `json:"log,omitempty"` // in the first line only, as are ID and Session
	ID      string `json:"id,omitempty"`  // random, so that a rewritten log is told from the one before it
	Session string `json:"session,omitempty"`

	N  uint64    `json:"n"`  // numbers the changes of a log from 1, without gaps
	At time.Time `json:"at"` // when the change was written

	State   *snapshot `json:"state,omitempty"` // what a rewritten log begins with
	Append  *appended `json:"append,omitempty"`
	Lease   *lease    `json:"lease,omitempty"` // a new lease or a renewal
	Release bool      `json:"release,omitempty"`
	Post    *item     `json:"post,omitempty"`
}

// begin makes c the first line of a log.
func (c *change) begin(session string) {
	c.Format, c.ID, c.Session = format, rand.Text(), session
}

type appended struct {
	After   uint64              `json:"after"`
	Fence   uint64              `json:"fence,omitempty"`
	Records []record            `json:"records,omitempty"`
	Head    *journal.HeadUpdate `json:"head,omitempty"`
	Taken   []string            `json:"taken,omitempty"`
}

type lease struct {
	Fence uint64    `json:"fence"`
	Owner string    `json:"owner,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

type record struct {
	Time time.Time `json:"time,omitzero"`
	Kind string    `json:"kind"`
	V    int       `json:"v,omitempty"`
	content
}

type item struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time,omitzero"`
	Kind string    `json:"kind"`
	content
	Closes []string `json:"closes,omitempty"` // in a post only
}

// content is the data of a record or an item.
type content struct {
	JSON   json.RawMessage `json:"data,omitempty"`
	Base64 []byte          `json:"base64,omitempty"` // what isn't JSON
}

// maxBrackets bounds how deep data is nested, because encoding/json reads no more than 10,000
// levels.
const maxBrackets = 9000

// newContent writes data as it is if that is compact JSON, which encoding/json keeps byte for byte.
func newContent(data []byte) content {
	var compact bytes.Buffer
	if utf8.Valid(data) && bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) < maxBrackets &&
		json.Compact(&compact, data) == nil && bytes.Equal(compact.Bytes(), data) {
		return content{JSON: data}
	}
	return content{Base64: data}
}

func (c content) bytes() []byte {
	if len(c.JSON) > 0 {
		return c.JSON
	}
	return c.Base64
}

func newRecord(r *journal.Record) record {
	return record{Time: normalize(r.Time), Kind: r.Kind, V: r.V, content: newContent(r.Data)}
}

func (r *record) decode(seq uint64) journal.Record {
	return journal.Record{Seq: seq, Time: r.Time, Kind: r.Kind, V: r.V, Data: r.bytes()}
}

func newItem(it *journal.Item) *item {
	return &item{ID: it.ID, Time: normalize(it.Time), Kind: it.Kind, content: newContent(it.Data), Closes: it.Closes}
}

// decode returns the item as Take does: without Closes, and with a copy of its data.
func (it *item) decode() journal.Item {
	return journal.Item{ID: it.ID, Time: it.Time, Kind: it.Kind, Data: slices.Clone(it.bytes())}
}

// normalize returns t in UTC, without a monotonic reading.
func normalize(t time.Time) time.Time { return t.Round(0).UTC() }

const (
	crcOpen  = `{"crc":"`
	crcClose = `",`
	crcLen   = len(crcOpen) + 8 + len(crcClose)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(body []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) }

// encodeLine returns v, which becomes a JSON object, as a line with its checksum and line break.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(crcOpen + "00000000" + `"`) // its comma takes the place of the object's opening brace
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // it would change data that is written as it is
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	line := b.Bytes()
	line[crcLen-1] = ','
	copy(line[len(crcOpen):], checksum(line[crcLen:len(line)-1]))
	return line, nil
}

// Damage is what may be wrong with a line.
var (
	errPartial  = errors.New("the line isn't complete")
	errChecksum = errors.New("the checksum doesn't match the line")
	errContent  = errors.New("the checksum matches, but this version doesn't write such a line")
	errShorter  = errors.New("the file has become shorter")
)

func isDamage(err error) bool {
	return errors.Is(err, errPartial) || errors.Is(err, errChecksum) || errors.Is(err, errContent) ||
		errors.Is(err, errShorter)
}

// intact reports whether a line, with its line break, has the checksum that it names.
func intact(line []byte) bool {
	return len(line) > crcLen && bytes.HasPrefix(line, []byte(crcOpen)) &&
		string(line[crcLen-len(crcClose):crcLen]) == crcClose &&
		string(line[len(crcOpen):len(crcOpen)+8]) == checksum(line[crcLen:len(line)-1])
}

// decodeLine reads into v a line that is intact.
func decodeLine(line []byte, v any) error {
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("%w: %w", errContent, err)
	}
	return nil
}
