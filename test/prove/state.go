package prove

import (
	"fmt"
	"slices"
	"strings"
)

// state is a pool and its machines.
type state struct {
	// list holds the places of the machines, sorted.
	list []uint8
	// size is that of the group.
	size int
	// exists is true once the new template exists, pointed while the group launches from it.
	exists, pointed bool
	stage           stage
}

// stage is the group's place in its life.
type stage uint8

const (
	there stage = iota
	// leaving: the cloud deletes the group with its machines.
	leaving
	// gone: there is no group, and the templates are left.
	gone
	// nothing is left, the templates neither.
	nothing
)

const (
	machineBits = 6
	sizeBits    = 4
	stageBits   = 2
	// most is the number of machines that a key holds.
	most = (64 - sizeBits - stageBits - 2) / machineBits
)

// key returns the state as a number.
func (s state) key() uint64 {
	var k uint64
	for _, place := range s.list {
		k = k<<machineBits | uint64(place+1)
	}
	k = k<<sizeBits | uint64(s.size)
	k = k<<stageBits | uint64(s.stage)
	k <<= 2
	if s.exists {
		k |= 1
	}
	if s.pointed {
		k |= 2
	}
	return k
}

// stateOf returns the state of a key, with its list in the array.
func stateOf(k uint64, into []uint8) state {
	s := state{exists: k&1 != 0, pointed: k&2 != 0, list: into[:0]}
	k >>= 2
	s.stage = stage(k & (1<<stageBits - 1))
	k >>= stageBits
	s.size = int(k & (1<<sizeBits - 1))
	for k >>= sizeBits; k > 0; k >>= machineBits {
		s.list = append(s.list, uint8(k&(1<<machineBits-1))-1)
	}
	slices.Reverse(s.list)
	return s
}

// with returns the state with another list of machines.
func (s state) with(list []uint8) state {
	slices.Sort(list)
	s.list = list
	return s
}

// replaced returns the state with another machine at a place of the list.
func (s state) replaced(at int, m machine) state {
	list := slices.Clone(s.list)
	list[at] = placeOf[m]
	return s.with(list)
}

// without returns the state without a machine.
func (s state) without(at int) state {
	return s.with(slices.Delete(slices.Clone(s.list), at, at+1))
}

// alive counts the machines that are not on their way out, serving those that serve.
func (s state) alive() int   { return s.count(machine.alive) }
func (s state) serving() int { return s.count(machine.serves) }

func (s state) count(is func(machine) bool) int {
	n := 0
	for _, place := range s.list {
		if is(machines[place]) {
			n++
		}
	}
	return n
}

func (s state) String() string {
	var list []string
	for _, place := range s.list {
		list = append(list, machines[place].String())
	}
	template := "launches the old template, and the new one does not exist"
	switch {
	case s.pointed:
		template = "launches the new template"
	case s.exists:
		template = "launches the old template"
	}
	group := [...]string{"a group", "a group that is being deleted", "no group", "nothing"}[s.stage]
	return fmt.Sprintf("%s of size %d with [%s], %s", group, s.size, strings.Join(list, ", "), template)
}

// all calls the function with every state of at most n machines whose group has at most so many and one more.
func all(n int, f func(state)) {
	f(state{stage: nothing})
	f(state{stage: gone})
	f(state{stage: gone, exists: true})
	var extend func(list []uint8, from uint8)
	extend = func(list []uint8, from uint8) {
		for size := range n + 2 {
			for _, at := range []stage{there, leaving} {
				f(state{list: list, size: size, stage: at})
				f(state{list: list, size: size, stage: at, exists: true})
				f(state{list: list, size: size, stage: at, exists: true, pointed: true})
			}
		}
		if len(list) == n {
			return
		}
		for place := from; int(place) < len(machines); place++ {
			extend(append(slices.Clone(list), place), place)
		}
	}
	extend(nil, 0)
}
