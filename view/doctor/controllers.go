package doctor

import (
	"slices"
	"strings"
)

// The core MachinePool controller: its name in Muster's --controllers, and the gate of Cluster API's manager, which is on by default.
const (
	coreController = "machinepool"
	corePoolGate   = "MachinePool"
)

// controllers checks that one controller runs each kind: the core MachinePool, and the kinds that another provider has too.
func controllers(f Installation) []Finding {
	found := f.coreControllers()
	for _, p := range f.Providers {
		for _, m := range f.managers(p.Existing.Label) {
			if p.Existing.Label == "" {
				continue
			}
			found = append(found, p.Existing.findingOf(m))
		}
	}
	return found
}

// findingOf returns the finding about a manager of the provider: whether it also runs controllers of pools.
func (e Existing) findingOf(m Manager) Finding {
	gate, variable := e.PoolGate, e.Variable
	switch {
	case e.PoolGate == "" && m.Desired == 0:
		return okay(m.object(), "it does not run: nothing else changes pools")
	case e.PoolGate == "":
		return problem(m.object(), e.Title+" runs its controllers of pools too, and has no switch for them: two controllers change one pool",
			"scale its Deployment to 0, or pause the pools of one of the two: docs/migrating.md")
	case m.gate(e.PoolGate, e.PoolGateDefault):
	case e.ManagedGate != "" && m.gate(e.ManagedGate, false):
		gate, variable = e.ManagedGate, e.ManagedVariable
	default:
		return okay(m.object(), "its controllers of pools are off ("+e.PoolGate+"=false)")
	}
	return problem(m.object(), e.Title+" runs its controllers of pools too ("+gate+"=true): two controllers change one pool",
		"set "+variable+"=false for it: docs/migrating.md")
}

// coreControllers returns the finding about the core MachinePool: exactly one controller runs it.
func (f Installation) coreControllers() []Finding {
	const object = "Core MachinePool controller"
	var names []string
	for _, m := range f.managers(CoreProvider) {
		if m.Desired > 0 && m.gate(corePoolGate, true) {
			names = append(names, m.object())
		}
	}
	for _, m := range f.managers(MusterProvider) {
		if m.Desired > 0 && m.runs(coreController) {
			names = append(names, m.object())
		}
	}
	switch {
	case len(names) == 1:
		return []Finding{{Severity: OK, Object: object, Fact: "runs in " + names[0] + " alone"}}
	case len(names) > 1:
		return []Finding{{Severity: Problem, Object: object, Fact: "runs in " + strings.Join(names, " and in "),
			Action: "install config/default in the place of config/full, or set EXP_MACHINE_POOL=false for Cluster API"}}
	case f.Local:
		return []Finding{{Severity: OK, Object: object, Fact: "is Muster's, in the process of muster up"}}
	case len(f.managers(CoreProvider)) == 0:
		return []Finding{{Severity: Unchecked, Object: object, Fact: "Cluster API's manager was not found, and Muster's does not run it",
			Action: "check that one of them does"}}
	default:
		return []Finding{{Severity: Problem, Object: object, Fact: "runs in no manager: MachinePools are not looked at",
			Action: "set EXP_MACHINE_POOL=true for Cluster API, or install config/full"}}
	}
}

// gate returns a feature gate of a manager.
func (m Manager) gate(name string, byDefault bool) bool {
	if on, ok := m.Gates[name]; ok {
		return on
	}
	return byDefault
}

// runs reports whether a manager of Muster runs a controller: without --controllers it runs all.
func (m Manager) runs(controller string) bool {
	return len(m.Controllers) == 0 || slices.Contains(m.Controllers, controller)
}

// names returns the controllers of a manager for people.
func (m Manager) names() string {
	if len(m.Controllers) == 0 {
		return "all"
	}
	return strings.Join(m.Controllers, ", ")
}
