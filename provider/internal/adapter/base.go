package adapter

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Base returns the address for requests: the configured one, else the one in the environment
// variable, else nil for the provider's own. Its scheme must be http or https. The error, of class
// [fault.UserFixable], doesn't contain the address, which may contain secrets.
//
// Trusted says that a key from the environment may be sent there: the address comes from the
// environment, or there is none, or it is the provider's own, such as https://api.example.com, with
// https and the default port.
func Base(name, configured, variable, own string) (base *url.URL, trusted bool, err error) {
	address, fromEnv := configured, os.Getenv(variable)
	if address == "" {
		address = fromEnv
	}
	if address == "" {
		return nil, true, nil
	}
	setting := "Config.BaseURL"
	if configured == "" {
		setting = variable
	}
	u, err := ParseBase(name, setting, address, own)
	if err != nil {
		return nil, false, err
	}
	isOwn := u.Scheme == "https" && strings.EqualFold("https://"+u.Hostname(), own) &&
		(u.Port() == "" || u.Port() == "443")
	return u, address == fromEnv || isOwn, nil
}

// ParseBase parses the base URL in a setting of the adapter, such as Config.BaseURL. Its scheme
// must be http or https. The error, of class [fault.UserFixable], doesn't contain the address,
// which may contain secrets, unless it is just a host without a scheme. example is an address such
// as https://api.example.com.
func ParseBase(name, setting, address, example string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return u, nil
	}
	if lacksScheme(address) {
		return nil, fault.NewFixable(fmt.Sprintf("%s: %s: %q has no scheme", name, setting, address),
			fmt.Sprintf("write %q", "http://"+address), nil)
	}
	return nil, fault.NewFixable(name+": "+setting+" isn't an http or https address",
		"set it to an address such as "+example, nil)
}

// lacksScheme reports whether address is only a host with a port, or localhost, and perhaps a path,
// so that it contains no secret.
func lacksScheme(address string) bool {
	u, err := url.Parse("http://" + address)
	if err != nil || strings.Contains(address, "://") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return u.Hostname() != "" && u.Port() != "" || u.Hostname() == "localhost"
}
