package cloudtest

import "github.com/muster-project/muster/sim"

// by does a deed by hand, and reports whether the cloud has such a thing.
func (p player[S]) by(d sim.Action, on sim.Resource) bool {
	p.Helper()
	has, err := p.cloud.Capabilities().OutOfBand.Do(d, on)
	if err != nil {
		p.Fatalf("%+v: %v", on, err)
	}
	return has
}
