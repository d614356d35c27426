// Package ports chooses ports that stay the same for as long as a directory exists, and keeps them for their owner until it ends.
package ports

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"strconv"
	"sync"
	"syscall"
)

const (
	// first and last port to choose from. The range lies below the one that systems take for outgoing connections
	// (32768 on Linux), so that nothing sits on a port while its owner is being restarted, and below NodePorts (30000).
	first, last = 20000, 29999
)

// Set is a set of TCP ports on 127.0.0.1 that no other set has, of this process or of another, until they are given back or the process
// ends. A port is often chosen long before something listens there, and is free for a moment when that is restarted; meanwhile it is
// kept by the UDP port of the same number, which the set holds. The zero value is an empty set. Methods may be called at the same time.
type Set struct {
	mu   sync.Mutex
	held map[int]net.PacketConn
}

// Pick adds a port that is free. The same name begins its search at the same port, and different names at different ones.
func (s *Set) Pick(name string) (int, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	count := last - first + 1
	start := int(h.Sum32() % uint32(count))
	for i := range count {
		port := first + (start+i)%count
		if s.Take(port) == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("want a free port between %d and %d on 127.0.0.1, found none", first, last)
}

// Take adds a port. It returns an error if a process listens there or a set has it.
func (s *Set) Take(port int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	hold, err := net.ListenPacket("udp", address)
	if err != nil {
		return inShort(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return errors.Join(inShort(err), hold.Close())
	}
	if s.held == nil {
		s.held = map[int]net.PacketConn{}
	}
	s.held[port] = hold
	return l.Close()
}

// inShort is the system's own reason alone: that a port is held by its UDP number concerns no user.
func inShort(err error) error {
	if reason, ok := errors.AsType[syscall.Errno](err); ok {
		return reason
	}
	return err
}

// GiveBack removes a port; one that the set does not have is left alone.
func (s *Set) GiveBack(port int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := s.held[port]
	if hold == nil {
		return nil
	}
	delete(s.held, port)
	return hold.Close()
}

// Close gives all ports back. The set is empty then, and may be used again.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, hold := range s.held {
		errs = append(errs, hold.Close())
	}
	clear(s.held)
	return errors.Join(errs...)
}
