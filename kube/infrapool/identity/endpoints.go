package identity

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// EndpointsFlag names the addresses of clouds' APIs that secrets of identities may name, in addition to the public ones.
const EndpointsFlag = "identity-endpoints"

// ParseEndpoints returns the addresses that the value of the flag names. Plain HTTP is for addresses of this machine alone.
func ParseEndpoints(list []string) ([]string, error) {
	var all []string
	for _, text := range list {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
			u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
			return nil, fmt.Errorf("--%s: want https addresses such as https://api.example.com, found %q", EndpointsFlag, text)
		}
		all = append(all, normalized(text))
	}
	return all, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// normalized returns an address without the slashes at its end.
func normalized(address string) string { return strings.TrimRight(address, "/") }

// Endpoint returns an Error unless requests may be sent to an address that a secret names: it is one of the public ones of its cloud, or
// the operator lists it. The user who writes the secret would otherwise choose which addresses the manager reaches. field names where the
// address is; the message does not hold it, because it is part of a secret.
func (c *Credentials) Endpoint(field, address string, public ...string) error {
	if slices.Contains(public, normalized(address)) || c.Listed(address) {
		return nil
	}
	return Errorf(ReasonNotAllowed, "%s: the address is not one of the cloud's (%s): remove it, or have the operator add it to --%s", field,
		strings.Join(public, ", "), EndpointsFlag)
}

// Listed reports whether the operator lists an address of a cloud's API (EndpointsFlag).
func (c *Credentials) Listed(address string) bool {
	return slices.Contains(c.sources.Endpoints, normalized(address))
}
