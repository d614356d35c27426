package account

import (
	"maps"

	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// Operation answers one action of S, a service or a part of one.
type Operation[S any] struct {
	Run func(s S, x *wire.Call) (any, error)
	// Mutating actions write; List actions are charged more when they request everything at once.
	Mutating, List bool
}

// on reads the parameters into the input shape and calls the operation.
func on[S, In, Out any](f func(S, *In) (*Out, error)) func(S, *wire.Call) (any, error) {
	return func(s S, x *wire.Call) (any, error) {
		in := new(In)
		if err := x.Decode(in); err != nil {
			return nil, err
		}
		return f(s, in)
	}
}

// Read returns an operation that reads.
func Read[S, In, Out any](f func(S, *In) (*Out, error)) Operation[S] { return Operation[S]{Run: on(f)} }

// List returns an operation that reads and is charged more when it requests everything at once.
func List[S, In, Out any](f func(S, *In) (*Out, error)) Operation[S] {
	return Operation[S]{Run: on(f), List: true}
}

// Write returns an operation that writes.
func Write[S, In, Out any](f func(S, *In) (*Out, error)) Operation[S] {
	return Operation[S]{Run: on(f), Mutating: true}
}

// Of returns the operations of a part as those of the service that holds it.
func Of[S, P any](part func(S) P, operations map[string]Operation[P]) map[string]Operation[S] {
	out := make(map[string]Operation[S], len(operations))
	for action, o := range operations {
		out[action] = Operation[S]{Run: core.Via(part, o.Run), Mutating: o.Mutating, List: o.List}
	}
	return out
}

// Join returns the operations of several parts together.
func Join[S any](of ...map[string]Operation[S]) map[string]Operation[S] {
	out := map[string]Operation[S]{}
	for _, operations := range of {
		maps.Copy(out, operations)
	}
	return out
}
