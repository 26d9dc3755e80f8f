package file

import (
	"encoding/base64"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// format is the version of the lines below, which the first line of a log names. A line is a JSON object; its checksum, CRC-32C
// over the very bytes that follow it up to the line break, comes first:
//
//	{"crc":"89abcdef","log":1,"id":"5f3a…","session":"s-1"}                                first of each log
//	{"crc":"89abcdef","n":1,"seq":1,"fence":3,"time":1764,"v":1,"kind":"reply","data":{}}  a record, not yet kept
//	{"crc":"89abcdef","n":1,"op":"append","records":1,"at":1764,"head":{…},"taken":["a"]}  keeps the records since the last change
//	{"crc":"89abcdef","n":2,"op":"lease","fence":4,"owner":"w","until":1764,"began":1764}  also a renewal
//	{"crc":"89abcdef","n":3,"op":"release","fence":4}
//	{"crc":"89abcdef","n":4,"op":"post","time":1764,"id":"a","kind":"decision","data":{}}
//	{"crc":"89abcdef","n":1,"op":"state","seq":7,"fence":4,…,"at":1764,"head":{…}}         what a pruned log begins with
//	{"crc":"89abcdef","n":2,"op":"closed","ids":["a"]}                                     ids taken before that
//
// n numbers the changes, without gaps: lines of one n are kept together or not at all. Times are nanoseconds since 1970. The fields
// come in this order, and those that are empty are left out, so that decoding is a walk; data is written as it is where it is JSON
// on one line, and in base64 where it isn't.
const format = 1

type op uint8

const (
	opLog op = iota + 1
	opRecord
	opAppend
	opLease
	opRelease
	opPost
	opState
	opClosed
)

const (
	crcOpen  = `{"crc":"`
	crcClose = `",`
	crcLen   = len(crcOpen) + 8 + len(crcClose)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A line is what [line.parse] has found. Byte slices point into what was parsed.
type line struct {
	op op
	n  uint64

	format      uint64 // opLog
	id, session []byte

	seq   uint64 // opRecord, opState
	fence uint64 // opRecord, opLease, opRelease, opState

	time    int64 // opRecord, opPost
	timed   bool  // whether there is a time
	v       int
	kind    []byte
	item    []byte // opPost: the item's id
	data    []byte
	encoded bool // data is in base64

	records uint64 // opAppend
	at      int64  // opAppend, opState; opLease: when the session began, if it began with the lease
	head    *journal.HeadUpdate
	ids     []string // opAppend: taken; opClosed

	owner []byte // opLease, opState
	until int64
}

// begin appends the start of a line, which [finish] completes.
func begin(b []byte) []byte { return append(b, crcOpen+"00000000"+crcClose...) }

func beginOp(b []byte, n uint64, op string) []byte {
	b = begin(b)
	b = append(b, `"n":`...)
	b = strconv.AppendUint(b, n, 10)
	b = append(b, `,"op":"`...)
	b = append(b, op...)
	return append(b, '"')
}

// finish ends the line that begins at start.
func finish(b []byte, start int) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '}')
	sum := crc32.Checksum(b[start+crcLen:], castagnoli)
	hex := b[start+len(crcOpen):][:8]
	for i := range hex {
		hex[i] = digits[sum>>(28-4*i)&15]
	}
	return append(b, '\n')
}

func appendLog(b []byte, id, session string) []byte {
	start := len(b)
	b = begin(b)
	b = append(b, `"log":`...)
	b = strconv.AppendUint(b, format, 10)
	b = field(b, `,"id":`, id)
	b = field(b, `,"session":`, session)
	return finish(b, start)
}

func appendRecord(b []byte, n, seq, fence uint64, r *journal.Record) []byte {
	start := len(b)
	b = begin(b)
	b = append(b, `"n":`...)
	b = strconv.AppendUint(b, n, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, `,"fence":`...)
	b = strconv.AppendUint(b, fence, 10)
	b = appendTime(b, `,"time":`, r.Time)
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, int64(r.V), 10)
	b = field(b, `,"kind":`, r.Kind)
	b = appendData(b, r.Data)
	return finish(b, start)
}

func appendAppend(b []byte, n uint64, records int, at int64, head *journal.HeadUpdate, taken []string) []byte {
	start := len(b)
	b = beginOp(b, n, "append")
	b = append(b, `,"records":`...)
	b = strconv.AppendInt(b, int64(records), 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, at, 10)
	b = appendHead(b, head)
	b = appendIDs(b, `,"taken":`, taken)
	return finish(b, start)
}

// appendLease writes a lease or its renewal. Began isn't 0 where the session begins with it.
func appendLease(b []byte, n, fence uint64, owner string, until, began int64) []byte {
	start := len(b)
	b = beginOp(b, n, "lease")
	b = appendHolder(b, fence, owner, until)
	if began != 0 {
		b = append(b, `,"began":`...)
		b = strconv.AppendInt(b, began, 10)
	}
	return finish(b, start)
}

func appendHolder(b []byte, fence uint64, owner string, until int64) []byte {
	b = append(b, `,"fence":`...)
	b = strconv.AppendUint(b, fence, 10)
	b = field(b, `,"owner":`, owner)
	b = append(b, `,"until":`...)
	return strconv.AppendInt(b, until, 10)
}

func appendRelease(b []byte, n, fence uint64) []byte {
	start := len(b)
	b = beginOp(b, n, "release")
	b = append(b, `,"fence":`...)
	b = strconv.AppendUint(b, fence, 10)
	return finish(b, start)
}

func appendPost(b []byte, n uint64, it *journal.Item) []byte {
	start := len(b)
	b = beginOp(b, n, "post")
	b = appendTime(b, `,"time":`, it.Time)
	b = field(b, `,"id":`, it.ID)
	b = field(b, `,"kind":`, it.Kind)
	b = appendData(b, it.Data)
	return finish(b, start)
}

// appendState writes what a log without its first records begins with: all that h says but for the inbox.
func appendState(b []byte, n, seq uint64, h *journal.Head) []byte {
	start := len(b)
	b = beginOp(b, n, "state")
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	var until int64
	if h.Owner != "" {
		until = h.Until.UnixNano()
	}
	b = appendHolder(b, h.Fence, h.Owner, until)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, h.Updated.UnixNano(), 10)
	b = appendHead(b, &journal.HeadUpdate{Status: h.Status, Open: h.Open})
	return finish(b, start)
}

func appendClosed(b []byte, n uint64, ids []string) []byte {
	start := len(b)
	b = beginOp(b, n, "closed")
	b = appendIDs(b, `,"ids":`, ids)
	return finish(b, start)
}

func appendHead(b []byte, h *journal.HeadUpdate) []byte {
	if h == nil {
		return b
	}
	b = field(b, `,"head":{"status":`, h.Status)
	for i := range h.Open {
		o := &h.Open[i]
		if i == 0 {
			b = append(b, `,"open":[`...)
		} else {
			b = append(b, ',')
		}
		b = field(b, `{"id":`, o.ID)
		b = field(b, `,"kind":`, o.Kind)
		b = field(b, `,"title":`, o.Title)
		b = appendTime(b, `,"expires":`, o.Expires)
		b = append(b, '}')
	}
	if len(h.Open) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendIDs(b []byte, key string, ids []string) []byte {
	for i, id := range ids {
		if i == 0 {
			b = append(b, key...)
			b = append(b, '[')
		} else {
			b = append(b, ',')
		}
		b = field(b, "", id)
	}
	if len(ids) > 0 {
		b = append(b, ']')
	}
	return b
}

// field appends a key and a name. Names hold no control characters, so there are two that JSON wants escaped.
func field(b []byte, key, name string) []byte {
	b = append(b, key...)
	b = append(b, '"')
	for i := range len(name) {
		if c := name[i]; c == '"' || c == '\\' {
			b = append(b, '\\', c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func appendTime(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(b, key...)
	return strconv.AppendInt(b, t.UnixNano(), 10)
}

func appendData(b, data []byte) []byte {
	switch {
	case len(data) == 0:
		return b
	case isJSONLine(data):
		b = append(b, `,"data":`...)
		return append(b, data...)
	default:
		b = append(b, `,"base64":"`...)
		b = base64.StdEncoding.AppendEncode(b, data)
		return append(b, '"')
	}
}

// content returns a copy of the data of a record or item.
func (l *line) content() ([]byte, error) {
	if !l.encoded {
		return append([]byte(nil), l.data...), nil
	}
	return base64.StdEncoding.AppendDecode(nil, l.data)
}

// when returns the time of a record or item.
func (l *line) when() time.Time {
	if !l.timed {
		return time.Time{}
	}
	return instant(l.time)
}

func instant(ns int64) time.Time { return time.Unix(0, ns).UTC() }
