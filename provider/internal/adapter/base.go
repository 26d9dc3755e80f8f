package adapter

import (
	"net/url"
	"os"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Base returns the address that requests go to: the configured one, else that in the environment variable, else nil, for the
// provider's own. It must be one of http or https; the error, of class [fault.UserFixable], doesn't repeat it, since it may
// hold secrets.
//
// Trusted says that a key from the environment may be sent there: the environment names this address, or none, or it is the
// provider's own, such as https://api.example.com, by https and its usual port.
func Base(name, configured, variable, own string) (base *url.URL, trusted bool, err error) {
	address, fromEnv := configured, os.Getenv(variable)
	if address == "" {
		address = fromEnv
	}
	if address == "" {
		return nil, true, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, false, fault.NewFixable(name+": BaseURL is no http or https address",
			"set Config.BaseURL, or "+variable+", to an address such as "+own, nil)
	}
	isOwn := u.Scheme == "https" && strings.EqualFold("https://"+u.Hostname(), own) && (u.Port() == "" || u.Port() == "443")
	return u, address == fromEnv || isOwn, nil
}
