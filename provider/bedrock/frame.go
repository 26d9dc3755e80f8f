package bedrock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/pawlkit/pawl/stream/sse"
)

// The limits of Amazon's own clients, in bytes.
const (
	mostHeaders = 128 << 10
	mostPayload = 16 << 20
	preludeSize = 12
	leastFrame  = preludeSize + 4
	mostFrame   = leastFrame + mostHeaders + mostPayload
)

// A frame is a message of an AWS event stream (application/vnd.amazon.eventstream): the length of
// the frame and of its headers, the CRC of both, the headers, the payload, and the CRC of
// everything before.
type frame struct {
	headers map[string]string // those that are strings
	payload []byte
}

// errDamaged is the error of a frame that was changed on its way, or isn't one.
var errDamaged = errors.New("bedrock: a frame of the event stream is damaged")

// readFrame reads a frame. It returns io.EOF between frames, io.ErrUnexpectedEOF within one,
// errDamaged, a *[sse.TooLargeError], or an error of r. Memory is taken as the data comes, whatever
// length the frame claims.
func readFrame(r io.Reader) (*frame, error) {
	var prelude [preludeSize]byte
	if _, err := io.ReadFull(r, prelude[:]); err != nil {
		return nil, err
	}
	size, head := binary.BigEndian.Uint32(prelude[:4]), binary.BigEndian.Uint32(prelude[4:8])
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return nil, errDamaged
	case size > mostFrame || head > mostHeaders:
		return nil, &sse.TooLargeError{Limit: mostFrame}
	case size < leastFrame || head > size-leastFrame:
		return nil, errDamaged
	}
	var rest bytes.Buffer
	n, err := io.CopyN(&rest, r, int64(size)-preludeSize)
	switch {
	case errors.Is(err, io.EOF), err == nil && n < int64(size)-preludeSize:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	data, sum := rest.Bytes()[:size-leastFrame], rest.Bytes()[size-leastFrame:]
	if crc32.Update(crc32.ChecksumIEEE(prelude[:]), crc32.IEEETable, data) != binary.BigEndian.Uint32(sum) {
		return nil, errDamaged
	}
	headers, ok := readHeaders(data[:head])
	if !ok {
		return nil, errDamaged
	}
	return &frame{headers, data[head:]}, nil
}

// valueSizes are the sizes of the values of headers, by type. Types 6 and 7, bytes and strings,
// begin with their length.
var valueSizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}

// typeString is the type of headers that are strings.
const typeString = 7

// readHeaders decodes headers: for each the length of the name, the name, the type and the value.
func readHeaders(data []byte) (map[string]string, bool) {
	headers := make(map[string]string, 3)
	for len(data) > 0 {
		n := 1 + int(data[0])
		if len(data) < n+1 || int(data[n]) >= len(valueSizes) {
			return nil, false
		}
		name, kind := string(data[1:n]), data[n]
		data = data[n+1:]
		size := valueSizes[kind]
		if size < 0 {
			if len(data) < 2 {
				return nil, false
			}
			size = int(binary.BigEndian.Uint16(data))
			data = data[2:]
		}
		if len(data) < size {
			return nil, false
		}
		if kind == typeString {
			headers[name] = string(data[:size])
		}
		data = data[size:]
	}
	return headers, true
}
