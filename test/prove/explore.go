package prove

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/pool"
)

// Proof counts what was explored of a case.
type Proof struct {
	// States and Edges count all of them, Ends the states at which nothing moves. Depth is the length of the longest way that
	// steps with effect and lives that go on lead along.
	States, Edges, Ends, Depth int
	// Found are the first violations.
	Found []string
}

// mostFound bounds the violations of a case that are reported.
const mostFound = 5

// graph holds the states and edges that were explored.
type graph struct {
	c     Case
	p     policy
	proof Proof
	at    map[uint64]int32
	keys  []uint64
	// next holds the edges: those of state i are next[from[i]:from[i+1]].
	next []int32
	from []int
}

// Explore follows every state of a case with at most n machines at the beginning.
func Explore(c Case, n int) Proof {
	g := &graph{c: c, p: policyOf(c), at: map[uint64]int32{}}
	all(n, func(s state) { g.number(s) })
	var room [most + 1]uint8
	for k := 0; k < len(g.keys) && len(g.proof.Found) < mostFound; k++ {
		g.from = append(g.from, len(g.next))
		g.follow(stateOf(g.keys[k], room[:]))
	}
	g.from = append(g.from, len(g.next))
	if len(g.proof.Found) == 0 {
		g.measure()
	}
	g.proof.States, g.proof.Edges = len(g.keys), len(g.next)
	return g.proof
}

// number returns the number of a state.
func (g *graph) number(s state) int32 {
	k := s.key()
	n, known := g.at[k]
	if !known {
		n = int32(len(g.keys)) // some millions
		g.at[k] = n
		g.keys = append(g.keys, k)
	}
	return n
}

func (g *graph) found(s state, format string, args ...any) {
	if len(g.proof.Found) < mostFound {
		g.proof.Found = append(g.proof.Found, fmt.Sprintf("%s: %s: %s", g.c, s, fmt.Sprintf(format, args...)))
	}
}

// follow adds the edges of a state, and checks the steps that are planned in it.
func (g *graph) follow(s state) {
	before := len(g.next)
	add := func(next state) { g.next = append(g.next, g.number(next)) }
	var first pool.Plan
	g.p.plans(s, func(plan pool.Plan, refused bool) {
		if !refused {
			first = plan
		}
		if plan.Step == nil {
			return
		}
		if wrong := g.c.unsafe(s, plan.Step); wrong != "" {
			g.found(s, "%s of %v: %s", plan.Step.Kind, s.targets(plan.Step), wrong)
		}
		s.answers(plan.Step, add)
	})
	g.c.goesOn(s, add)
	if len(g.next) == before {
		g.proof.Ends++
		if wrong := g.c.unfinished(s, first); wrong != "" {
			g.found(s, "nothing moves: %s", wrong)
		}
	}
}

// The marks of states while ways are measured.
const (
	fresh = -1
	open  = -2
)

// measure finds the longest way along the edges, and a cycle if there is one: a livelock.
func (g *graph) measure() {
	depth, path := make([]int32, len(g.keys)), []int32{}
	edge := make([]int, len(g.keys))
	for k := range depth {
		depth[k], edge[k] = fresh, g.from[k]
	}
	for k := range depth {
		if depth[k] != fresh {
			continue
		}
		depth[k] = open
		for path = append(path[:0], int32(k)); len(path) > 0; {
			top := path[len(path)-1]
			if edge[top] == g.from[top+1] {
				path = path[:len(path)-1]
				g.close(top, depth)
				continue
			}
			next := g.next[edge[top]]
			edge[top]++
			switch depth[next] {
			case fresh:
				depth[next] = open
				path = append(path, next)
			case open:
				g.cycle(path, next)
				return
			}
		}
	}
}

// close records the longest way from a state, once those behind it are known.
func (g *graph) close(k int32, depth []int32) {
	longest := int32(0)
	for _, next := range g.next[g.from[k]:g.from[k+1]] {
		longest = max(longest, depth[next]+1)
	}
	depth[k] = longest
	g.proof.Depth = max(g.proof.Depth, int(longest))
}

// cycle reports the cycle that ends a path.
func (g *graph) cycle(path []int32, begin int32) {
	var way []string
	for k := len(path) - 1; k >= 0; k-- {
		s := stateOf(g.keys[path[k]], make([]uint8, most+1))
		step := "goes on"
		g.p.plans(s, func(plan pool.Plan, _ bool) {
			if plan.Step != nil {
				step += ", " + string(plan.Step.Kind)
			}
		})
		way = append([]string{fmt.Sprintf("%s (%s)", s, step)}, way...)
		if path[k] == begin {
			break
		}
	}
	g.proof.Found = append(g.proof.Found, fmt.Sprintf("%s: a cycle of %d:\n\t%s", g.c, len(way), strings.Join(way, "\n\t")))
}
