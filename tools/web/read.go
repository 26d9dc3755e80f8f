package web

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
)

// textType returns the media type of a Content-Type and the charset that it declares; "" for an
// empty or invalid header. For a type that isn't text it returns what is wrong, in words that don't
// quote the header.
func textType(header string) (mediaType, declared, problem string) {
	mediaType, params, err := mime.ParseMediaType(header)
	if err != nil && mediaType == "" {
		return "", "", ""
	}
	if !isText(mediaType) {
		kind, _, _ := strings.Cut(mediaType, "/")
		what := map[string]string{"image": ", but an image", "audio": ", but sound", "video": ", but a video"}[kind]
		if mediaType == "application/pdf" {
			what = ", but a PDF"
		}
		return "", "", "it is no text" + what
	}
	return mediaType, params["charset"], ""
}

func isText(mediaType string) bool {
	kind, sub, _ := strings.Cut(mediaType, "/")
	if kind == "text" {
		return true
	}
	if strings.HasSuffix(sub, "+xml") && kind != "image" || strings.HasSuffix(sub, "+json") {
		return true
	}
	switch mediaType {
	case "application/json", "application/ld+json", "application/xml", "application/javascript",
		"application/ecmascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/x-ndjson", "application/jsonl", "application/sql":
		return true
	}
	return false
}

// read makes a Page of a body. An empty mediaType isn't known.
func read(u *url.URL, mediaType, declared string, body []byte) (*Page, error) {
	page := &Page{URL: u.String(), Type: mediaType, Cut: len(body) > mostBytes}
	body = body[:min(len(body), mostBytes)]
	if mediaType == "" {
		found, params, _ := mime.ParseMediaType(http.DetectContentType(body))
		if !isText(found) {
			return nil, newError(page.URL, fault.Permanent, nil, "it is no text, but %s", found)
		}
		page.Type = found
		if params["charset"] != "utf-8" { // that is its guess for anything that looks like text
			declared = params["charset"]
		}
	}
	isHTML := page.Type == "text/html" || page.Type == "application/xhtml+xml"
	text, err := decodeText(body, declared, isHTML, page.Cut)
	if err != nil {
		return nil, newError(page.URL, fault.Permanent, nil, "%v", err)
	}
	if strings.Contains(text, "\x00") {
		return nil, newError(page.URL, fault.Permanent, nil, "it is no text: it contains zero bytes")
	}
	if !isHTML {
		page.Text = visible.Text(text)
		return page, nil
	}
	if page.Title, page.Text, err = markdown(u, text); err != nil {
		return nil, newError(page.URL, fault.Permanent, nil, "%v", err)
	}
	if len(page.Text) > mostBytes {
		page.Text, page.Cut = string(trimPartial([]byte(page.Text[:mostBytes]))), true
	}
	return page, nil
}

var errCharset = errors.New("its charset is unknown or unsafe")

// decodeText returns a body as UTF-8. The charset is that of a byte order mark, the declared one,
// that of HTML's meta element, UTF-8 if the body is valid, or windows-1252, in this order. cut says
// that the body may end within a character.
func decodeText(body []byte, declared string, isHTML, cut bool) (string, error) {
	if declared != "" {
		if e, _ := charset.Lookup(declared); e == nil {
			declared = ""
		}
	}
	contentType := "text/plain"
	if isHTML {
		contentType = "text/html"
	}
	if declared != "" {
		contentType += "; charset=" + declared
	}
	found, name, certain := charset.DetermineEncoding(body, contentType)
	if !certain && validUTF8(body, cut) { // it looks at the first kilobyte only
		found, name = encoding.Nop, "utf-8"
	}
	switch {
	case name == "replacement" || name == "x-user-defined":
		return "", errCharset
	case name == "utf-8":
		body = bytes.TrimPrefix(body, []byte("\uFEFF"))
		if cut {
			body = trimPartial(body)
		}
		return strings.ToValidUTF8(string(body), "\uFFFD"), nil
	}
	out, err := found.NewDecoder().Bytes(body)
	if err != nil {
		return "", fmt.Errorf("its text isn't valid %s", name)
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(out), "\uFEFF"), "\uFFFD"), nil
}

func validUTF8(body []byte, cut bool) bool {
	if cut {
		body = trimPartial(body)
	}
	return utf8.Valid(body)
}

// trimPartial removes the beginning of a character at the end.
func trimPartial(body []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(body); n++ {
		if tail := body[len(body)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return body[:len(body)-n]
			}
			break
		}
	}
	return body
}
