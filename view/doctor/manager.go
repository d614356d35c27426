package doctor

import "fmt"

// manager checks that Muster's manager runs, has a leader, and is of the version of this build.
func manager(f Installation) []Finding {
	managers := f.managers(MusterProvider)
	switch {
	case len(managers) == 0 && f.Local:
		return []Finding{{Severity: OK, Object: "Muster", Fact: "its controllers run in the process of muster up"}}
	case len(managers) == 0:
		return []Finding{{Severity: Problem, Object: "Muster", Fact: "no Deployment of its manager exists",
			Action: "install it: docs/install.md"}}
	}
	var found []Finding
	for _, m := range managers {
		found = append(found, m.readiness("its controllers: "+m.names()))
		if f.Release != "" && m.Version != f.Release {
			found = append(found, warning(m.object(),
				fmt.Sprintf("has version %s, and this command %s: definitions and roles are compared with those of %s",
					m.Version, f.Release, f.Release), "run the muster of the manager's version"))
		}
	}
	if len(managers) > 1 {
		found = append(found, problem(managers[1].object(), fmt.Sprintf("is a second manager beside %s", managers[0].object()),
			"remove one of them: each elects a leader of its own"))
	}
	return append(found, f.leader(managers[0]))
}

// leader returns the finding about the leader election.
func (f Installation) leader(m Manager) Finding {
	const object = "Lease of Muster's leader election"
	action := fmt.Sprintf("read the manager's log: kubectl -n %s logs deployment/%s", m.Namespace, m.Name)
	switch l := f.Lease; {
	case l == nil || l.Holder == "":
		return problem(object, "no manager leads, so no pool is looked at", action)
	case f.Now.Sub(l.Renewed) > l.Duration:
		return problem(object, l.Holder+" has not renewed it in time, so no pool is looked at", action)
	default:
		return okay(object, l.Holder+" leads")
	}
}
