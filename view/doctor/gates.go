package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// poolsGate runs Muster's controllers of pools.
const poolsGate = "MusterMachinePools"

// gates checks that the managers' flags run the kinds of all pools.
func gates(f Installation) []Finding {
	var found []Finding
	for _, m := range f.managers(MusterProvider) {
		if !m.gate(poolsGate, true) {
			found = append(found, problem(m.object(), poolsGate+"=false: no pool is run",
				"set MUSTER_MACHINE_POOLS=true, or remove the gate"))
			continue
		}
		off := f.switchedOff(m)
		found = append(found, off...)
		if len(off) == 0 {
			found = append(found, okay(m.object(), "feature gates: "+gateList(m.Gates)))
		}
	}
	return found
}

// switchedOff has a finding for each kind that has pools and that a manager does not run.
func (f Installation) switchedOff(m Manager) (found []Finding) {
	for _, p := range f.Providers {
		for _, k := range p.Kinds {
			n := f.poolsOf(k)
			if n == 0 {
				continue
			}
			fact := ""
			switch {
			case !m.runs(k.Controller):
				fact = "--controllers lacks " + k.Controller
			case k.Gate != "" && !m.gate(k.Gate, k.GateDefault):
				fact = k.Gate + "=false"
			default:
				continue
			}
			found = append(found, problem(m.object(), fmt.Sprintf("%s: %d pools of kind %s are not run", fact, n, k.Kind),
				"switch it on (docs/install.md), or remove the pools"))
		}
	}
	return found
}

func (f Installation) poolsOf(k Kind) (n int) {
	for _, p := range f.Pools {
		if p.Kind == k.GroupKind {
			n++
		}
	}
	return n
}

func gateList(gates map[string]bool) string {
	if len(gates) == 0 {
		return "the defaults"
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		list = append(list, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(list, ", ")
}
