package sim

import (
	"math"
	"sync/atomic"
	"time"
)

// DefaultSpeed is how much faster than life machines boot and stop unless told otherwise: a node is ready within ten seconds.
const DefaultSpeed = 10

// Speed turns the time that something takes in life into the time that it takes here. API rates are never sped up: clients
// meet the limits that they would meet in life.
type Speed struct{ bits atomic.Uint64 }

// Set changes the factor for what starts from now on; zero or less means DefaultSpeed.
func (s *Speed) Set(factor float64) {
	if factor <= 0 {
		factor = DefaultSpeed
	}
	s.bits.Store(math.Float64bits(factor))
}

// Factor is how much faster than life things go.
func (s *Speed) Factor() float64 {
	if f := math.Float64frombits(s.bits.Load()); f > 0 {
		return f
	}
	return DefaultSpeed
}

// Of is how long something takes here that takes life in life.
func (s *Speed) Of(life time.Duration) time.Duration {
	return time.Duration(float64(life) / s.Factor())
}
