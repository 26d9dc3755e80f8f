package serve

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A file is a file that comes with a message.
type file struct {
	Name string `json:"name"`
	Type string `json:"type"` // what the client says; what the file contains counts
	Data []byte `json:"data"`
}

// parts returns files as parts of a message. The type of a file is what its first bytes show. Files
// by URL aren't accepted: whoever fetches them could be made to fetch what only the server can
// reach.
func (s *server) parts(files []file) ([]provider.Part, *problem) {
	if len(files) > max(s.cfg.MaxFiles, 0) {
		return nil, fail(http.StatusRequestEntityTooLarge, codeTooLarge, fault.Invalid,
			"there are %d files; at most %d are accepted", len(files), max(s.cfg.MaxFiles, 0))
	}
	var parts []provider.Part
	for i, f := range files {
		name := fileName(f.Name)
		kind, _, _ := mime.ParseMediaType(http.DetectContentType(f.Data))
		if len(f.Data) == 0 {
			return nil, malformed("file %d is empty", i+1)
		}
		if strings.HasPrefix(f.Type, "image/") && !strings.HasPrefix(kind, "image/") {
			return nil,
				fail(http.StatusUnsupportedMediaType, CodeMediaType, fault.Invalid, "file %d isn't an image", i+1)
		}
		if !slices.Contains(fileTypes, kind) {
			return nil, fail(http.StatusUnsupportedMediaType, CodeMediaType, fault.Invalid,
				"file %d is of type %s; those accepted are %s", i+1, kind, strings.Join(fileTypes, ", "))
		}
		parts = append(parts, provider.MediaPart(provider.Media{Type: kind, Name: name, Data: f.Data}))
	}
	return parts, nil
}

// fileName returns the last element of a file's name, without control characters, and cut at 200
// bytes.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	for len(name) > 200 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name == "." || name == "/" || name == ".." {
		return "file"
	}
	return name
}
