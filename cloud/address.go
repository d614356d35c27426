package cloud

import (
	"net"
	"strings"
)

// Loopback reports whether a host, without a port, is this machine by its form: localhost or an address of the loopback networks. No name
// is looked up.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
