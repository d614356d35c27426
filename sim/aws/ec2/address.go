package ec2

import (
	"net/netip"
)

// reservedAddresses are the first addresses of a subnet, which AWS keeps for itself.
const reservedAddresses = 4

// addressesIn returns the number of instances that a subnet has addresses for: the last one is AWS's too.
func addressesIn(cidr string) int {
	p, err := netip.ParsePrefix(cidr)
	if err != nil || p.Bits() > 28 {
		return 0
	}
	return 1<<(32-p.Bits()) - reservedAddresses - 1
}

// addressAt is the n-th address that a subnet gives to instances.
func addressAt(cidr string, n int) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return ""
	}
	b := p.Masked().Addr().As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n + reservedAddresses)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String()
}
