package ports

import (
	"net"
	"strconv"
	"testing"
)

// TestPick: the choice must be repeatable, and must avoid what is taken by others and by the caller.
func TestPick(t *testing.T) {
	chosen, err := Pick("a world", nil)
	if err != nil {
		t.Fatal(err)
	}
	if chosen < first || chosen > last {
		t.Fatalf("want a port between %d and %d, got %d", first, last, chosen)
	}
	other, err := Pick("a world", map[int]bool{chosen: true})
	if err != nil || other == chosen {
		t.Fatalf("taken by the caller: want another port than %d, got %d, %v", chosen, other, err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(chosen)))
	if err != nil {
		t.Skipf("another client took %d in between: %v", chosen, err)
	}
	defer func() { _ = l.Close() }()
	if err := Free(chosen); err == nil {
		t.Fatalf("port %d is listened on: want an error, got none", chosen)
	}
	if other, err = Pick("a world", nil); err != nil || other == chosen {
		t.Fatalf("taken by another client: want another port than %d, got %d, %v", chosen, other, err)
	}
}
