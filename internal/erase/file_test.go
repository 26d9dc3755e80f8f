package erase_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/erase"
	"github.com/pawlkit/pawl/provider"
)

func inUTF16(s string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func TestTextFilesInOtherCharsetsAreErased(t *testing.T) {
	const before, after = "Zoë 𝐀nn wrote\r\nto us", "[erased] [erased] wrote\r\nto us"
	long := strings.Repeat("caf\xE9 ", 20)
	for name, c := range map[string][4]string{ // the type, before, with, after
		"UTF-16": {"text/plain", inUTF16("\uFEFF"+before, binary.LittleEndian), "[erased]",
			inUTF16("\uFEFF"+after, binary.LittleEndian)},
		"big-endian": {"text/csv", inUTF16("\uFEFF"+before, binary.BigEndian), "[erased]",
			inUTF16("\uFEFF"+after, binary.BigEndian)},
		"no mark": {"text/plain", inUTF16(before, binary.LittleEndian), "[erased]",
			inUTF16(after, binary.LittleEndian)},
		"big-endian, no mark, no type": {"", inUTF16(before+before, binary.BigEndian), "[erased]",
			inUTF16(after+after, binary.BigEndian)},
		"a half character": {"text/plain", "\xFF\xFEA\x00n\x00n\x00\x00\xD8\x01\x00!", "[erased]",
			inUTF16("\uFEFF[erased]\uFFFD\x01", binary.LittleEndian) + "!"},
		"Latin-1":          {"text/plain", "Zo\xEB \x00", "[erased]", "[erased] \x00"},
		"Latin-1, no type": {"", "Zo\xEB" + long, "[erased]", "[erased]" + long},
		"a code page":      {"text/plain", "Ann \x81\x8D", "[erased]", "[erased] \x81\x8D"},
		"what doesn't fit": {"text/plain", "Ann Zo\xEB caf\xE9", "∅", "∅ ∅ café"},
		"short":            {"text/plain", "Ann", "[erased]", "[erased]"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(map[string]any{"media": provider.Media{Type: c[0], Data: []byte(c[1])}})
			require.NoError(t, err)
			var words, members []string
			erase.Found(ann, &words, &members).Record("", data)
			require.NotEmpty(t, words)
			var got struct{ Media provider.Media }
			now := erase.Replaced(words, c[2], nil).Record("", data)
			require.NoError(t, json.Unmarshal(now, &got))
			require.Equal(t, c[3], string(got.Media.Data))
			words = nil
			erase.Found(ann, &words, &members).Record("", now)
			require.Empty(t, words)
		})
	}
}

func TestAnImageIsntReadAsText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 8, 8))))
	b.WriteString("Ann") // as in noise
	data, err := json.Marshal(map[string]any{"media": provider.Media{Type: "image/png", Data: b.Bytes()},
		"text": base64.StdEncoding.EncodeToString(b.Bytes())})
	require.NoError(t, err)
	var words, members []string
	erase.Found(ann, &words, &members).Record("", data)
	require.Empty(t, words)
	require.Equal(t, string(data), string(erase.Replaced([]string{"Ann"}, "x", nil).Record("", data)))
}
