package address

import (
	"context"
	"net"
	"net/netip"
	"time"
)

const (
	// maxDialed bounds the IP addresses of a name that are dialed, dialTimeout the time for each.
	maxDialed   = 4
	dialTimeout = 3 * time.Second
)

// Dialer connects to addresses that a list allows.
type Dialer struct {
	List List
	// Resolve returns the IP addresses of a name; nil is the system's resolver.
	Resolve func(ctx context.Context, network, host string) ([]netip.Addr, error)
	// Dial connects to an IP address and port; nil is the system's dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// ErrUnresolved is returned for a name that does not resolve.
var ErrUnresolved = &Error{"the name does not resolve"}

// DialContext connects to an address. It dials the IP addresses that it has checked, so that a name that resolves to another address from
// one moment to the next leads nowhere else. Addresses of the name that may not be dialed are skipped; if all are, the error is that of the
// first.
func (d Dialer) DialContext(ctx context.Context, a Address) (net.Conn, error) {
	ips, err := d.resolve(ctx, a)
	if err != nil {
		return nil, err
	}
	var refusedFirst, failed error
	dialed := 0
	for _, ip := range ips {
		if err := d.List.MayDial(a, ip); err != nil {
			refusedFirst = cmpError(refusedFirst, err)
			continue
		}
		if dialed++; dialed > maxDialed {
			break
		}
		connection, err := d.dial(ctx, ip, a.port)
		if err == nil {
			return connection, nil
		}
		failed = cmpError(failed, err)
	}
	return nil, cmpError(failed, cmpError(refusedFirst, ErrUnresolved))
}

func (d Dialer) resolve(ctx context.Context, a Address) ([]netip.Addr, error) {
	if a.ip.IsValid() {
		return []netip.Addr{a.ip}, nil
	}
	resolve := d.Resolve
	if resolve == nil {
		resolve = net.DefaultResolver.LookupNetIP
	}
	ips, err := resolve(ctx, "ip", a.host)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, ErrUnresolved
	}
	return ips, nil
}

func (d Dialer) dial(ctx context.Context, ip netip.Addr, port string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dial := d.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return dial(ctx, "tcp", net.JoinHostPort(ip.Unmap().String(), port))
}

// cmpError returns the first error that is set.
func cmpError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
