package address

import (
	"net/netip"
	"net/url"
	"strings"
)

// maxLength is the length of the longest address.
const maxLength = 1024

// Address is an address of a server that a policy names.
type Address struct {
	url url.URL
	// host is a name or an IP address in lower case, without brackets and without a dot at its end. port is a number.
	host, port string
	// ip is set if the host is an IP address.
	ip netip.Addr
}

// Error is the reason for which an address is not asked. It holds no IP address, because the author of a policy may not be able to resolve
// the name.
type Error struct{ message string }

// Error returns what is wrong with the address and what to do.
func (e *Error) Error() string { return e.message }

// ErrForm is returned for an address of another form. It does not hold the address, which may have a password.
var ErrForm = &Error{"want an http or https address of a host, an optional port and an optional path, such as " +
	"https://prometheus.monitoring:9090, without user, query and fragment"}

// New returns an address of the form that gates can have.
func New(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxLength || !plain(u) {
		return Address{}, ErrForm
	}
	a := Address{url: *u, host: strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port: u.Port()}
	if a.port == "" {
		a.port = a.defaultPort()
	}
	if !validPort(a.port) || a.port == anyPort {
		return Address{}, ErrForm
	}
	if ip, err := netip.ParseAddr(a.host); err == nil {
		a.ip = ip.Unmap()
	}
	if a.ip.Zone() != "" || !a.ip.IsValid() && !isName(a.host) {
		return Address{}, ErrForm
	}
	return a, nil
}

// plain reports whether a URL has a scheme of the web, and nothing but a host, a port and a path.
func plain(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Opaque == "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// isName reports whether a host is a DNS name.
func isName(host string) bool {
	return len(host) <= maxName && !strings.HasPrefix(host, "*") && names.MatchString(host)
}

// String returns the address as it was written.
func (a Address) String() string { return a.url.String() }

// Secure reports whether requests are encrypted.
func (a Address) Secure() bool { return a.url.Scheme == "https" }

// Join returns the URL of a path below the address.
func (a Address) Join(elements ...string) *url.URL { return a.url.JoinPath(elements...) }

func (a Address) defaultPort() string {
	if a.Secure() {
		return "443"
	}
	return "80"
}
