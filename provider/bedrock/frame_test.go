package bedrock_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/bedrock"
	"github.com/pawlkit/pawl/stream/sse"
)

// frame returns a frame with string headers: alternating names and values.
func frame(payload string, headers ...string) string {
	var head []byte
	for i := 0; i < len(headers); i += 2 {
		head = append(append(head, byte(len(headers[i]))), headers[i]...)
		head = binary.BigEndian.AppendUint16(append(head, 7), uint16(len(headers[i+1])))
		head = append(head, headers[i+1]...)
	}
	return sealed(head, payload)
}

func sealed(head []byte, payload string) string {
	out := binary.BigEndian.AppendUint32(nil, uint32(16+len(head)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, head...), payload...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out)))
}

// event is a frame of an event.
func event(kind, payload string) string {
	return frame(payload, ":event-type", kind, ":content-type", "application/json", ":message-type", "event")
}

// exception is a frame of an error within an answer.
func exception(kind, payload string) string {
	return frame(payload, ":exception-type", kind, ":content-type", "application/json", ":message-type", "exception")
}

func TestAFrameIsRead(t *testing.T) {
	r := strings.NewReader(event("chunk", `{"a":1}`) + frame(""))
	headers, payload, err := bedrock.ReadFrame(r)
	require.NoError(t, err)
	require.Equal(t, map[string]string{":event-type": "chunk", ":content-type": "application/json",
		":message-type": "event"}, headers)
	require.Equal(t, `{"a":1}`, string(payload))
	headers, payload, err = bedrock.ReadFrame(r)
	require.NoError(t, err)
	require.Empty(t, headers)
	require.Empty(t, payload)
	_, _, err = bedrock.ReadFrame(r)
	require.Equal(t, io.EOF, err)
}

func TestHeadersOfAllTypesAreSkipped(t *testing.T) {
	var head []byte
	for kind, value := range []string{"", "", "1", "12", "1234", "12345678", "\x00\x02ab", "\x00\x02cd", "12345678",
		strings.Repeat("u", 16)} {
		head = append(head, 1, byte('a'+kind), byte(kind))
		head = append(head, value...)
	}
	headers, payload, err := bedrock.ReadFrame(strings.NewReader(sealed(head, "x")))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"h": "cd"}, headers)
	require.Equal(t, "x", string(payload))
}

func TestEveryChangedByteIsFound(t *testing.T) {
	whole := event("chunk", `{"bytes":"e30="}`)
	for at := range len(whole) {
		for _, bit := range []byte{1, 0x80} {
			damaged := []byte(whole)
			damaged[at] ^= bit
			_, _, err := bedrock.ReadFrame(bytes.NewReader(damaged))
			require.ErrorIs(t, err, bedrock.ErrDamaged, at)
		}
	}
}

func TestEveryCutOfAFrameIsFound(t *testing.T) {
	whole := event("chunk", `{"bytes":"e30="}`)
	for at := 1; at < len(whole); at++ {
		_, _, err := bedrock.ReadFrame(strings.NewReader(whole[:at]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, at)
	}
}

// prelude is the beginning of a frame with a right CRC.
func prelude(size, head uint32) string {
	out := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, size), head)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out)))
}

func TestFramesAreBounded(t *testing.T) {
	for _, p := range []string{prelude(bedrock.MostFrame+1, 0), prelude(1<<31, 0),
		prelude(1<<20, bedrock.MostHeaders+1)} {
		_, _, err := bedrock.ReadFrame(strings.NewReader(p))
		require.True(t, errors.As(err, new(*sse.TooLargeError)), "%v", err)
	}
	for _, p := range []string{prelude(15, 0), prelude(0, 0), prelude(20, 5)} {
		_, _, err := bedrock.ReadFrame(strings.NewReader(p + strings.Repeat("x", 64)))
		require.ErrorIs(t, err, bedrock.ErrDamaged)
	}
	_, _, err := bedrock.ReadFrame(strings.NewReader(prelude(16<<20, 0) + "x"))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte(event("chunk", `{"bytes":"e30="}`)))
	f.Add([]byte(exception("throttlingException", `{"message":"no"}`) + frame("")))
	f.Add([]byte(prelude(20, 5)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			before := r.Len()
			headers, payload, err := bedrock.ReadFrame(r)
			if err != nil {
				return
			}
			require.LessOrEqual(t, len(payload), before-r.Len()-16)
			for name, value := range headers {
				require.LessOrEqual(t, len(name)+len(value), before)
			}
		}
	})
}
