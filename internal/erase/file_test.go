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

func inUTF16(s string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestTextFilesInOtherCharsetsAreErased(t *testing.T) {
	const before, after = "Zoë 𝐀nn wrote\r\nto us", "[erased] [erased] wrote\r\nto us"
	long := strings.Repeat("caf\xE9 ", 20)
	for name, c := range map[string]struct {
		media       provider.Media
		with, after string
	}{
		"UTF-16, little-endian": {provider.Media{Type: "text/plain", Data: inUTF16("\uFEFF"+before, binary.LittleEndian)},
			"[erased]", string(inUTF16("\uFEFF"+after, binary.LittleEndian))},
		"UTF-16, big-endian": {provider.Media{Type: "text/csv", Data: inUTF16("\uFEFF"+before, binary.BigEndian)},
			"[erased]", string(inUTF16("\uFEFF"+after, binary.BigEndian))},
		"no mark": {provider.Media{Type: "text/plain", Data: inUTF16(before, binary.LittleEndian)},
			"[erased]", string(inUTF16(after, binary.LittleEndian))},
		"no mark, big-endian": {provider.Media{Data: inUTF16(before+before, binary.BigEndian)},
			"[erased]", string(inUTF16(after+after, binary.BigEndian))},
		"a half character": {provider.Media{Type: "text/plain", Data: []byte("\xFF\xFEA\x00n\x00n\x00\x00\xD8\x01\x00!")},
			"[erased]", string(inUTF16("\uFEFF[erased]\uFFFD\x01", binary.LittleEndian)) + "!"},
		"Latin-1":          {provider.Media{Type: "text/plain", Data: []byte("Zo\xEB \x00")}, "[erased]", "[erased] \x00"},
		"Latin-1, no type": {provider.Media{Data: []byte("Zo\xEB" + long)}, "[erased]", "[erased]" + long},
		"a code page":      {provider.Media{Type: "text/plain", Data: []byte("Ann \x81\x8D")}, "[erased]", "[erased] \x81\x8D"},
		"what doesn't fit": {provider.Media{Type: "text/plain", Data: []byte("Ann Zo\xEB caf\xE9")}, "∅", "∅ ∅ café"},
		"short":            {provider.Media{Type: "text/plain", Data: []byte("Ann")}, "[erased]", "[erased]"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(map[string]any{"media": c.media})
			require.NoError(t, err)
			var words, members []string
			erase.Found(ann, &words, &members).Record("", data)
			require.NotEmpty(t, words)
			var got struct{ Media provider.Media }
			now := erase.Replaced(words, c.with, nil).Record("", data)
			require.NoError(t, json.Unmarshal(now, &got))
			require.Equal(t, c.after, string(got.Media.Data))
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
