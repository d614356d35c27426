package standintest_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/muster-project/muster/local/ports"
)

// TestPickPort holds that the choice is repeatable, avoids ports in use, and is below the ports that systems use for outgoing connections
// and for Services.
func TestPickPort(t *testing.T) {
	const first, last = 20000, 29999
	var s ports.Set
	chosen := pickPort(t, &s)
	if chosen < first || chosen > last {
		t.Fatalf("want a port between %d and %d, got %d", first, last, chosen)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(chosen)))
	if err != nil {
		t.Skipf("another client took %d in between: %v", chosen, err)
	}
	defer func() { _ = l.Close() }()
	if err := s.Take(chosen); err == nil {
		t.Fatalf("port %d is listened on: want an error, got none", chosen)
	}
	if other := pickPort(t, &s); other == chosen {
		t.Fatalf("taken by another client: want another port than %d, got it", chosen)
	}
}

// TestSetsOfPortsHaveNoneInCommon: two worlds choose their ports before anything listens there. One that is chosen belongs to its world
// alone.
func TestSetsOfPortsHaveNoneInCommon(t *testing.T) {
	var one, other ports.Set
	chosen := pickPort(t, &one)
	if next := pickPort(t, &other); next == chosen {
		t.Fatalf("another set has %d: want another port, got it", chosen)
	}
	if next := pickPort(t, &one); next == chosen {
		t.Fatalf("the set has %d itself: want another port, got it", chosen)
	}
	if err := other.Take(chosen); err == nil {
		t.Fatalf("another set has %d: want an error, got none", chosen)
	}
	if err := other.GiveBack(chosen); err != nil {
		t.Fatal(err)
	}
	if err := other.Take(chosen); err == nil {
		t.Fatalf("given back by a set that does not have %d: want it kept, got it", chosen)
	}
	if err := one.GiveBack(chosen); err != nil {
		t.Fatal(err)
	}
	if err := other.Take(chosen); err != nil {
		t.Fatalf("port %d was given back: want it, got %v", chosen, err)
	}
}

// TestHeldPortsAreListenedOn: the owner of a port listens there while its set has the port.
func TestHeldPortsAreListenedOn(t *testing.T) {
	var s ports.Set
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(pickPort(t, &s))))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

// pickPort chooses the port of a name, the same for all sets of a test, which are closed when the test ends.
func pickPort(t *testing.T, s *ports.Set) int {
	t.Helper()
	t.Cleanup(func() { _ = s.Close() })
	port, err := s.Pick(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
