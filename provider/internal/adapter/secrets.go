package adapter

import (
	"net/url"
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
)

// PublicURL returns an address without the parts of it that may be secret.
func PublicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(no address)"
	}
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return strings.ToValidUTF8(public.String(), "")
}

// Brief returns the beginning of a text that isn't a message, such as a gateway's web page: at most
// 300 bytes and a mark, on one line and valid UTF-8.
func Brief(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= most {
		return text
	}
	return cut.Start(text, most) + "…"
}
