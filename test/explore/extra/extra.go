// Package extra draws the parts of scenarios that were added to all kinds of pools later. Each part has a separate sequence of random
// numbers, so that seeds keep their meaning.
package extra

import (
	"math/rand/v2"

	"github.com/muster-project/muster/test/explore/script"
)

// Draw makes the scenario of a seed of a kind, with all parts. Without them it is that of script.Kind.Draw.
func Draw(k *script.Kind, seed uint64) script.Scenario {
	return k.DrawAs(seed, k.Salt, func(d *script.Drawing) {
		k.Drawn(d)
		of := drawing{d}
		of.row(saltSeveral)
		if k.Another != nil && d.IntN(severalOneIn) == 0 {
			of.several()
		}
		if of.row(saltAmid); d.IntN(amidOneIn) == 0 && k.Another != nil {
			of.amid()
		}
		if of.row(saltServers); d.IntN(serversOneIn) == 0 && k.Another != nil {
			of.servers()
		}
		if of.row(saltNeighbours); d.IntN(neighboursOneIn) == 0 && k.Another != nil {
			of.neighbours()
		}
		of.row(saltHours)
		of.hours()
		if d.IntN(largeOneIn) == 0 && k.Another != nil && len(d.Scenario.Additional) == 0 {
			large(of)
		}
	})
}

// drawing is a scenario to which parts are added.
type drawing struct{ *script.Drawing }

// row begins a row of draws.
func (d drawing) row(salt uint64) { d.Rand = rand.New(rand.NewPCG(d.Scenario.Seed, salt)) }

// The salts of the rows.
const (
	saltSeveral    = 0x73657672
	saltAmid       = 0x616d6964
	saltServers    = 0x73727672
	saltNeighbours = 0x6e656967
	saltHours      = 0x686f7572
)
