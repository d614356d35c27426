package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// core checks that Cluster API is installed in a version that Muster reads.
func core(f Installation) []Finding {
	var found []Finding
	wants := ""
	for _, d := range f.Definitions {
		if !d.Core {
			continue
		}
		wants = d.Wants
		object := "CustomResourceDefinition " + d.Name
		switch {
		case len(d.Served) == 0:
			found = append(found, problem(object, "does not exist", "install Cluster API with clusterctl init"))
		case !slices.Contains(d.Served, d.Wants):
			found = append(found, problem(object, fmt.Sprintf("is served in %s, not in %s", strings.Join(d.Served, ", "), d.Wants),
				"upgrade Cluster API to a version that serves "+d.Wants))
		}
	}
	if len(found) > 0 {
		return found
	}
	managers := f.managers(CoreProvider)
	if len(managers) == 0 {
		if f.Local {
			return []Finding{{Severity: OK, Object: "Cluster API",
				Fact: "contract " + wants + " is served; its controllers run in the process of muster up"}}
		}
		return []Finding{{Severity: Warning, Object: "Cluster API",
			Fact:   "contract " + wants + " is served, but no Deployment has the label cluster.x-k8s.io/provider: " + CoreProvider,
			Action: "check that its core manager runs"}}
	}
	for _, m := range managers {
		found = append(found, m.readiness("contract "+wants))
	}
	return found
}

// managers returns the Deployments of one provider.
func (f Installation) managers(provider string) (list []Manager) {
	for _, m := range f.Managers {
		if m.Provider == provider {
			list = append(list, m)
		}
	}
	return list
}

// object names a Deployment.
func (m Manager) object() string { return "Deployment " + m.Namespace + "/" + m.Name }

// readiness returns the finding about the replicas of a Deployment, with more to say where all is well.
func (m Manager) readiness(more string) Finding {
	f := okay(m.object(), fmt.Sprintf("version %s, %d of %d replicas ready, %s", m.Version, m.Ready, m.Desired, more))
	action := fmt.Sprintf("kubectl -n %s get pods, and read the log of the one that is not ready", m.Namespace)
	switch {
	case m.Desired == 0:
		f.Severity, f.Fact, f.Action = Problem, "is scaled to 0", fmt.Sprintf("kubectl -n %s scale deployment/%s --replicas=2", m.Namespace,
			m.Name)
	case m.Ready == 0:
		f.Severity, f.Action = Problem, action
	case m.Ready < m.Desired:
		f.Severity, f.Action = Warning, action
	}
	return f
}
