// Package ports chooses ports that stay the same for as long as a directory exists.
package ports

import (
	"fmt"
	"hash/fnv"
	"net"
	"strconv"
)

const (
	// first and last port to choose from. The range lies below the one that systems take for outgoing connections
	// (32768 on Linux), so that nothing sits on a port while its owner is being restarted, and below NodePorts (30000).
	first, last = 20000, 29999
)

// Pick finds a port on 127.0.0.1 that is free now and is none of taken. The same name begins its search at the same
// port, and different names at different ones, so that worlds that start together do not meet.
func Pick(name string, taken map[int]bool) (int, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	count := last - first + 1
	start := int(h.Sum32() % uint32(count))
	for i := range count {
		port := first + (start+i)%count
		if !taken[port] && Free(port) == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("want a free port between %d and %d on 127.0.0.1, found none", first, last)
}

// Free says why nothing can listen on a port of 127.0.0.1; nil when something can.
func Free(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}
